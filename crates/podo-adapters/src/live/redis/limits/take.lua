-- KEYS[1] the limit's key, which holds when its bucket will be full again, in microseconds.
-- ARGV[1] now, in microseconds; ARGV[2] one request's share of the period, in microseconds;
-- ARGV[3] the burst.
-- Result: {1, requests left} or {0, milliseconds to wait}.
local now, share, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local full_at = tonumber(redis.call('get', KEYS[1]) or now)
-- More than a burst ahead means that the clock was set back.
full_at = math.min(math.max(full_at, now), now + share * burst)
local after = full_at + share
local over = after - (now + share * burst)
local is_allowed = over <= 0
if is_allowed then
  full_at = after
end
-- A full bucket needs no key. A minute of margin, because the server's clock may differ from ours.
local forget_ms = math.ceil((full_at - now) / 1000) + 60000
redis.call('set', KEYS[1], string.format('%.0f', full_at), 'px', string.format('%.0f', forget_ms))
if is_allowed then
  return {1, math.floor(-over / share)}
end
return {0, math.ceil(over / 1000)}
