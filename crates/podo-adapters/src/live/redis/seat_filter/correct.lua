-- KEYS[1] the holds of a schedule: seat -> 'until fan'.
-- ARGV[1] now, in ms; ARGV[2] ms after which an unchanged schedule expires; then for each seat
-- three: the seat, the hold that was seen ('' for none), the correct hold ('' for none).
-- Result: how many seats still were as seen and were set.
local now, n_set = tonumber(ARGV[1]), 0
for at = 3, #ARGV, 3 do
  local seat, seen, right = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local held = redis.call('hget', KEYS[1], seat) or ''
  if held ~= '' and tonumber(string.match(held, '^(%S+)')) <= now then
    held = ''
  end
  if held == seen then
    if right == '' then
      redis.call('hdel', KEYS[1], seat)
    else
      redis.call('hset', KEYS[1], seat, right)
    end
    n_set = n_set + 1
  end
end
redis.call('pexpire', KEYS[1], ARGV[2])
return n_set
