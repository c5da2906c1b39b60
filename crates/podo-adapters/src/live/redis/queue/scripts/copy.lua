-- A slice of the line or of the lobby, for a node's replica. KEYS see room.lua.
-- ARGV[1] 'line' or 'lobby'; [2] where it begins: after this number, or at this index; [3] how many
-- at most.
-- Result: 'slice' with numbers, in order, or with the occupied indexes; each is followed by the
-- last bytes of the fan's id.
local values, count = {}, tonumber(ARGV[3])
if ARGV[1] == 'line' then
  local found = redis.call('zrangebyscore', WAITING, '(' .. ARGV[2], '+inf', 'withscores',
    'limit', 0, count)
  for at = 2, #found, 2 do
    values[#values + 1], values[#values + 2] = text(tonumber(found[at])), tag(found[at - 1])
  end
else
  local indexes = {}
  for at = 1, count do
    indexes[at] = text(tonumber(ARGV[2]) + at - 1)
  end
  for at, fan in ipairs(redis.call('hmget', LOBBY, unpack(indexes))) do
    if fan and fan ~= '' then
      values[#values + 1], values[#values + 2] = indexes[at], tag(fan)
    end
  end
end
return {'slice', values}
