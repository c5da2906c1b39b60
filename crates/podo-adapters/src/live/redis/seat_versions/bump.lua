-- KEYS[1] the version of a schedule's seats; KEYS[2] the stream of changes: version-0 -> seats.
-- ARGV[1…] the changed seats.
-- Result: none.
-- The version is the time in microseconds, so that a server that lost everything can't reach a
-- version that a client has seen; it grows by one if the clock was set back.
local time = redis.call('time')
local now, before = time[1] * 1000000 + time[2], tonumber(redis.call('get', KEYS[1]) or 0)
local version = string.format('%.0f', math.max(now, before + 1))
redis.call('set', KEYS[1], version, 'px', 7 * 86400000)
redis.call('xadd', KEYS[2], 'MAXLEN', '~', 2000, version .. '-0', 's', table.concat(ARGV, ','))
redis.call('pexpire', KEYS[2], 7 * 86400000)
