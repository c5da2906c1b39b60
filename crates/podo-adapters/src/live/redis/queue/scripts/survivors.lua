-- What a room still has, open or not. KEYS see room.lua. ARGV[1] now, in ms.
-- Result: 'kept' with the epoch, the smallest number inside and the front of the line; or 'absent'
-- with the epoch.
if not is_kept() then
  return {'absent', {epoch()}}
end
sweep(tonumber(ARGV[1]))
local first = redis.call('zrange', WAITING, 0, 0, 'withscores')
local front = tonumber(first[2]) or field('next')
local oldest = math.huge
for _, packed in ipairs(redis.call('hvals', ENTRIES)) do
  oldest = math.min(oldest, tonumber(string.match(packed, '^%S+')))
end
return {'kept', {epoch(), text(oldest == math.huge and front or oldest), text(front)}}
