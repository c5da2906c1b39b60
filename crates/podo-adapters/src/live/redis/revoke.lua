-- KEYS[1] the session's key, which holds the end of its revocation.
-- ARGV[1] the end, in ms; ARGV[2] when the key expires, in ms.
-- Result: none.
local known = redis.call('get', KEYS[1])
-- The later of two ends applies.
if not known or tonumber(known) < tonumber(ARGV[1]) then
  redis.call('set', KEYS[1], ARGV[1], 'pxat', ARGV[2])
end
