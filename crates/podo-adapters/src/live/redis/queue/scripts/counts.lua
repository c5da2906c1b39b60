-- The counts of a waiting room. KEYS see room.lua. ARGV[1] now, in ms.
-- Result: 'counts' with gathered, drawn, waiting, front, inside, admitted, left, expired, fans
-- admitted in the last minute, seconds that these cover; or 'absent'.
if not is_kept() then
  return {'absent', {}}
end
local now = tonumber(ARGV[1])
sweep(now)
local first = redis.call('zrange', WAITING, 0, 0, 'withscores')
local n_fans, n_seconds = outflow(now)
return {'counts', {
  redis.call('hlen', GATHERED),
  field('drawn') or 0,
  redis.call('zcard', WAITING),
  text(tonumber(first[2]) or field('next')),
  redis.call('zcard', SLOTS),
  field('admitted') or 0,
  field('left') or 0,
  field('expired') or 0,
  n_fans,
  n_seconds,
}}
