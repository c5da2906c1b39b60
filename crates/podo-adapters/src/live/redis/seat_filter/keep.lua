-- KEYS[1] the holds of a schedule: seat -> 'until fan'.
-- ARGV[1] the fan; ARGV[2] until when, in ms; ARGV[3] ms after which an unchanged schedule expires;
-- ARGV[4…] the seats.
-- Result: none.
for at = 4, #ARGV do
  redis.call('hset', KEYS[1], ARGV[at], ARGV[2] .. ' ' .. ARGV[1])
end
redis.call('pexpire', KEYS[1], ARGV[3])
