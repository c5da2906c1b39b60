-- KEYS[1] the version of a schedule's seats; KEYS[2] the stream of changes: version-0 -> seats.
-- ARGV[1] the version that the caller knows.
-- Result: {the current version, the seats of every change since, or nil if not all are known}.
local version = redis.call('get', KEYS[1]) or '0'
if version == ARGV[1] then
  return {version, {}}
end
-- While a change up to the caller's version is still there, no later one was dropped.
local first = redis.call('xrange', KEYS[2], '-', '+', 'COUNT', 1)
if #first == 0 or tonumber(string.match(first[1][1], '^%d+')) > tonumber(ARGV[1]) then
  return {version, false}
end
local seats = {}
for _, change in ipairs(redis.call('xrange', KEYS[2], ARGV[1] .. '-1', '+')) do
  seats[#seats + 1] = change[2][2]
end
return {version, seats}
