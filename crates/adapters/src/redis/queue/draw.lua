-- Moves everybody from the lobby into the line, once, in the order that was drawn.
-- KEYS see room.lua.
-- ARGV[1] over how many places of the lobby the draw went; [2] the rank of each, from 0, as four
-- bytes, the highest first.
-- Result: 'done', also when nothing was done: somebody else has drawn, or the lobby has grown
-- since and must be drawn anew.
local n_drawn = tonumber(ARGV[1])
redis.call('del', DRAWING)
if redis.call('hexists', ROOM, 'drawn') == 1 or field('n_lobby') ~= n_drawn then
  return {'done', {}}
end
local first = field('next')
redis.call('hset', ROOM, 'next', text(first + n_drawn), 'drawn', text(n_drawn))
for index = 0, n_drawn - 1 do
  local rank = struct.unpack('>I4', ARGV[2], index * 4 + 1)
  local number, fan = text(first + rank), redis.call('hget', LOBBY, text(index))
  if not fan then
    redis.call('hset', UNCLAIMED, text(index), number)
  elseif fan ~= '' then
    redis.call('zadd', WAITING, number, fan)
  end
end
redis.call('unlink', LOBBY, GATHERED)
return {'done', {}}
