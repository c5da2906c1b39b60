-- KEYS[1] each node's report: its percentage and when, in ms.
-- ARGV[1] the node; [2] its percentage; [3] now, in ms; [4] how long a report counts, in ms.
-- Result: the smallest percentage that counts, and how many nodes count.
local now, heard_for = tonumber(ARGV[3]), tonumber(ARGV[4])
redis.call('hset', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. ARGV[3])
-- An unused hash expires by itself.
redis.call('pexpire', KEYS[1], 10 * heard_for)
local smallest, n_nodes = tonumber(ARGV[2]), 0
local told = redis.call('hgetall', KEYS[1])
for at = 1, #told, 2 do
  local percent, since = string.match(told[at + 1], '^(%d+) (%d+)$')
  if tonumber(since) + heard_for <= now then
    redis.call('hdel', KEYS[1], told[at])
  else
    smallest = math.min(smallest, tonumber(percent))
    n_nodes = n_nodes + 1
  end
end
return {smallest, n_nodes}
