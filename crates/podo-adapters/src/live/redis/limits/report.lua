-- KEYS[i] a shared bucket: when it will be full again, in microseconds.
-- ARGV[1] now, in microseconds; then for each key: the time in which one token is refilled, in
-- microseconds; the most tokens that may be missing; how many were taken.
-- Result: when each bucket will be full again, in microseconds.
local now = tonumber(ARGV[1])
local answer = {}
for i = 1, #KEYS do
  local token, missing_max = tonumber(ARGV[3 * i - 1]), tonumber(ARGV[3 * i])
  local taken = tonumber(ARGV[3 * i + 1])
  local full_at = math.max(tonumber(redis.call('get', KEYS[i]) or now), now) + token * taken
  full_at = math.min(full_at, now + token * missing_max)
  -- A full bucket needs no key. A minute of margin, because the server's clock may differ from
  -- ours.
  local forget_ms = string.format('%.0f', math.ceil((full_at - now) / 1000) + 60000)
  redis.call('set', KEYS[i], string.format('%.0f', full_at), 'px', forget_ms)
  answer[i] = full_at
end
return answer
