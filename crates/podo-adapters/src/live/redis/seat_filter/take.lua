-- KEYS[1] the holds of a schedule: seat -> 'until fan'.
-- ARGV[1] the fan; ARGV[2] until when, in ms; ARGV[3] ms after which an unchanged schedule expires;
-- ARGV[4] now, in ms; ARGV[5…] the seats.
-- Result: {the taken seats, their holds, 1 if the fan has all of those}.
local fan, hold, now = ARGV[1], ARGV[2] .. ' ' .. ARGV[1], tonumber(ARGV[4])
local blocked, holds, by_self = {}, {}, 1
for at = 5, #ARGV do
  local held = redis.call('hget', KEYS[1], ARGV[at])
  if held then
    local ends_at, owner = string.match(held, '^(%S+) (%S+)$')
    if now < tonumber(ends_at) then
      blocked[#blocked + 1] = ARGV[at]
      holds[#holds + 1] = held
      by_self = (owner == fan) and by_self or 0
    end
  end
end
if #blocked == 0 then
  for at = 5, #ARGV do
    redis.call('hset', KEYS[1], ARGV[at], hold)
  end
  redis.call('pexpire', KEYS[1], ARGV[3])
end
return {blocked, holds, by_self}
