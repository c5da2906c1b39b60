-- Puts a fan in the lobby or in line, or finds their existing place. KEYS see room.lua.
-- ARGV[1–8] see rules_of_call; [9] the fan; [10] what to do with a new fan: 'join', 'refuse', or
-- only 'look'; [11] the kind of proof: 'lobby', 'line' or 'none'; [12] the proven index or number.
-- Result: the fan's position, 'refused', 'closed', or 'need', 'draw' or 'wait' (see first_draw); or
-- 'rank' with n_drawn and drawn_first: the caller computes the number drawn for the index, and
-- calls again with that one as proof.
local rules, fan = rules_of_call(), ARGV[9]

local function gather(index)
  redis.call('hset', LOBBY, text(index), fan)
  redis.call('hset', GATHERED, fan, text(index))
  tell('gather', index, fan)
  redis.call('hset', ROOM, 'n_lobby', text(math.max(field('n_lobby') or 0, index + 1)))
  return true
end

local function stand(number)
  redis.call('zadd', WAITING, text(number), fan)
  tell('join', number, fan)
  return true
end

local function is_index_free(index)
  return index <= LOBBY_INDEX_MAX and redis.call('hexists', LOBBY, text(index)) == 0
end

-- A number above ours comes from a clock that ran ahead; before the draw it could collide with
-- those that the draw reserves.
local function is_number_free(number, is_drawn)
  if redis.call('hexists', UNCLAIMED, 'n' .. text(number)) == 1 then
    return true
  end
  local is_too_high = number >= NUMBER_MAX or (not is_drawn and number >= field('base'))
  return not (is_too_high or was_given(number) or is_taken(number))
end

local function stand_again(number, is_drawn)
  if not is_number_free(number, is_drawn) then
    return false
  end
  local index = redis.call('hget', UNCLAIMED, 'n' .. text(number))
  if index then
    redis.call('hdel', UNCLAIMED, index, 'n' .. text(number))
  end
  redis.call('hset', ROOM, 'returned', 1)
  return stand(number)
end

-- Whether the fan proves a later place than the one in the room: then the room has lost the fan's
-- departure from it.
local function proves_later(known, is_drawn)
  local proof, value = ARGV[11], tonumber(ARGV[12])
  if known[1] == 'waiting' and proof == 'line' then
    return known[2][1] < value and is_number_free(value, is_drawn)
  end
  return known[1] == 'lobby' and proof == 'lobby' and known[2][1] < value and is_index_free(value)
end

-- Result: whether the proven place was available, or what the caller has to do first.
local function take_back(is_drawn)
  local proof, value = ARGV[11], tonumber(ARGV[12])
  if proof == 'line' then
    return stand_again(value, is_drawn)
  elseif proof == 'lobby' and is_drawn then
    if field('drawn_earlier') and value < field('drawn') then
      return false, {'rank', {field('drawn'), text(field('drawn_first'))}}
    end
    local number = redis.call('hget', UNCLAIMED, text(value))
    return number and stand_again(tonumber(number), is_drawn)
  elseif proof == 'lobby' then
    return is_index_free(value) and gather(value)
  end
  return false
end

-- Result: nil, or what is needed first.
local function join(is_drawn)
  if not is_drawn then
    local index, to = field('index_next') or 0, field('index_to') or 0
    while index < to and not is_index_free(index) do
      index = index + 1
    end
    if index >= to then
      redis.call('hset', ROOM, 'index_next', text(index))
      return need('indexes')
    end
    redis.call('hset', ROOM, 'index_next', text(index + 1))
    gather(index)
    return nil
  end
  local number, to = field('next'), field('to') or 0
  -- After a clock was set back, restored numbers can lie ahead.
  while number < to and is_taken(number) do
    number = number + 1
  end
  if number >= to then
    redis.call('hset', ROOM, 'next', text(number))
    return need('numbers')
  end
  redis.call('hset', ROOM, 'next', text(number + 1))
  stand(number)
  return nil
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
local is_drawn = redis.call('hexists', ROOM, 'drawn') == 1
if known[1] ~= 'absent' and known[1] ~= 'expired' then
  if not proves_later(known, is_drawn) then
    return known
  end
  leave(fan)
end
-- A fan who proves a place isn't new, and can come back even while no one can join.
local is_back, first = take_back(is_drawn)
if not is_back and not first then
  if ARGV[10] ~= 'join' then
    return ARGV[10] == 'look' and known or {'refused', {}}
  end
  first = join(is_drawn)
end
if first then
  return first
end
redis.call('zrem', LAPSED, fan)
-- Alone in line: the fan takes a free slot at once and overtakes no one.
if redis.call('zcard', WAITING) == 1 then
  admit(rules)
end
return look(fan)
