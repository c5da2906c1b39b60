-- KEYS[1] the holds of a schedule: seat -> 'until fan'.
-- ARGV[1] the fan; ARGV[2…] the seats.
-- Result: none.
for at = 2, #ARGV do
  local held = redis.call('hget', KEYS[1], ARGV[at])
  if held and string.match(held, ' (%S+)$') == ARGV[1] then
    redis.call('hdel', KEYS[1], ARGV[at])
  end
end
