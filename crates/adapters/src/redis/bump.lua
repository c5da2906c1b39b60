-- KEYS[1] the version of a schedule's seats.
-- Result: nothing.
-- The time in microseconds, so that a server which forgot everything does not count up to a
-- version that somebody has seen; one more when the clock was set back.
local time = redis.call('time')
local now, before = time[1] * 1000000 + time[2], tonumber(redis.call('get', KEYS[1]) or 0)
local version = string.format('%.0f', math.max(now, before + 1))
redis.call('set', KEYS[1], version, 'px', 7 * 86400000)
