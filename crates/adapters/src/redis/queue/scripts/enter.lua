-- Puts a fan in the lobby or in line, or finds them where they are.
-- KEYS see room.lua.
-- ARGV[1–8] see rules_of_call; [9] the fan; [10] what to do with
-- somebody new: 'join', 'refuse', or 'look' where they stand; [11] what a proof is
-- about: 'lobby', 'line' or 'none'; [12] the index or number that it proves.
-- Result: where the fan stands, 'refused', 'closed', or 'draw' or 'wait' (see first_draw).
local rules, fan = rules_of_call(), ARGV[9]

local function gather(index)
  redis.call('hset', LOBBY, text(index), fan)
  redis.call('hset', GATHERED, fan, text(index))
  tell('gather', index)
  redis.call('hset', ROOM, 'n_lobby', text(math.max(field('n_lobby') or 0, index + 1)))
  return true
end

local function stand(number)
  redis.call('zadd', WAITING, text(number), fan)
  tell('join', number)
  return true
end

local function gather_again(index)
  if index > INDEX_MAX or redis.call('hexists', LOBBY, text(index)) == 1 then
    return false
  end
  return gather(index)
end

-- Whoever had a number of this run and is not in line has been let in or has left. A number above
-- ours is from a clock that ran ahead; before the draw it could meet those that are set aside.
local function stand_again(number, is_drawn)
  local is_too_high = number >= NUMBER_MAX or (not is_drawn and number >= field('base'))
  if is_too_high or is_of_this_run(number) or is_taken(number) then
    return false
  end
  redis.call('hset', ROOM, 'returned', 1)
  return stand(number)
end

local function stand_as_drawn(index)
  local number = redis.call('hget', UNCLAIMED, text(index))
  if not number then
    return false
  end
  redis.call('hdel', UNCLAIMED, text(index))
  redis.call('hset', ROOM, 'returned', 1)
  return stand(tonumber(number))
end

local function take_back(is_drawn)
  local proof, value = ARGV[11], tonumber(ARGV[12])
  if proof == 'line' then
    return stand_again(value, is_drawn)
  elseif proof == 'lobby' and is_drawn then
    return stand_as_drawn(value)
  elseif proof == 'lobby' then
    return gather_again(value)
  end
  return false
end

local function join(is_drawn)
  if not is_drawn then
    return gather(field('n_lobby') or 0)
  end
  local number = field('next')
  -- After a clock was set back, numbers that fans brought along can lie ahead.
  while is_taken(number) do
    number = number + 1
  end
  redis.call('hset', ROOM, 'next', text(number + 1))
  return stand(number)
end

if not is_open() then
  return {'closed', {}}
end
sweep(rules.now)
local todo = first_draw(rules.now, rules.opens_at)
if todo then
  return todo
end
local known = look(fan)
if known[1] ~= 'absent' and known[1] ~= 'expired' then
  return known
end
local is_drawn = redis.call('hexists', ROOM, 'drawn') == 1
-- Whoever proves a place is not new: they may come back even while nobody may join.
if not take_back(is_drawn) then
  if ARGV[10] ~= 'join' then
    return ARGV[10] == 'look' and known or {'refused', {}}
  end
  join(is_drawn)
end
redis.call('zrem', LAPSED, fan)
-- Alone in line: a free slot is theirs at once, and nobody is passed.
if redis.call('zcard', WAITING) == 1 then
  admit(rules)
end
return look(fan)
