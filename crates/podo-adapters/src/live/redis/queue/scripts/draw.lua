-- Moves a slice of the lobby into the line, in the drawn order. The first step after the opening
-- has closed the lobby, and the store has reserved the numbers; until the last slice no fan is
-- admitted and no position is returned. KEYS see room.lua.
-- ARGV[1] the size of the draw; [2] the index at which this slice begins; [3] the rank of each of
-- its places, from 0, as four bytes, big-endian.
-- Result: 'next' with the index at which the next slice begins. It differs from the caller's
-- expectation if another node draws too: a slice is never moved twice.
local n_drawn, from = tonumber(ARGV[1]), tonumber(ARGV[2])
if redis.call('hexists', ROOM, 'drawn') == 1 or field('drawing') ~= n_drawn then
  return {'next', {n_drawn}}
end
if field('drawn_up_to') ~= from then
  return {'next', {field('drawn_up_to')}}
end
redis.call('set', DRAWING, 1, 'px', DRAWING_MS)

local first, n_places = field('drawn_first'), #ARGV[3] / 4
local indexes = {}
for at = 1, n_places do
  indexes[at] = text(from + at - 1)
end
local line, gathered, unclaimed, indexes_of = {}, {}, {}, {}
for at, fan in ipairs(redis.call('hmget', LOBBY, unpack(indexes))) do
  local number = text(first + struct.unpack('>I4', ARGV[3], at * 4 - 3))
  if not fan then
    -- A fan admitted with this number may have been restored.
    if not is_spent(tonumber(number)) then
      unclaimed[#unclaimed + 1], unclaimed[#unclaimed + 2] = indexes[at], number
      indexes_of[#indexes_of + 1], indexes_of[#indexes_of + 2] = 'n' .. number, indexes[at]
    end
  elseif fan ~= '' then
    line[#line + 1], line[#line + 2] = number, fan
    gathered[#gathered + 1] = fan
  end
end
if #line > 0 then
  redis.call('zadd', WAITING, unpack(line))
  redis.call('hdel', GATHERED, unpack(gathered))
end
if #unclaimed > 0 then
  redis.call('hset', UNCLAIMED, unpack(unclaimed))
  redis.call('hset', UNCLAIMED, unpack(indexes_of))
end
local up_to = from + n_places
redis.call('hset', ROOM, 'drawn_up_to', text(up_to))
if up_to == n_drawn then
  redis.call('hset', ROOM, 'drawn', text(n_drawn))
  begin_run(first)
  redis.call('hset', ROOM, 'next', text(first + n_drawn), 'to', text(first + n_drawn))
  -- Also delete the changes, so that every node copies the new line.
  redis.call('unlink', LOBBY, GATHERED, CHANGES, DRAWING)
end
return {'next', {up_to}}
