-- The rooms that fans have contacted lately, as a sorted set by the time of the last contact.
-- KEYS[1] the set. ARGV[1] now in ms, ARGV[2] for how many ms a contact counts; ARGV[3] a schedule
-- that was contacted now, or nothing.
-- Result: for a contact 0; otherwise whether the set is new (0 or 1), then the schedules.
local now, busy_for = tonumber(ARGV[1]), tonumber(ARGV[2])
if ARGV[3] then
  redis.call('zadd', KEYS[1], now, ARGV[3])
  -- The next round makes it last longer.
  redis.call('pexpire', KEYS[1], busy_for)
  return {0}
end
-- A member that only a server that lost the set doesn't have.
local is_new = redis.call('zadd', KEYS[1], '+inf', 'known')
redis.call('pexpire', KEYS[1], 2 * busy_for)
redis.call('zremrangebyscore', KEYS[1], '-inf', '(' .. (now - busy_for))
local rooms = redis.call('zrange', KEYS[1], 0, -2)
table.insert(rooms, 1, is_new)
return rooms
