-- Shared by all steps of a waiting room, and prepended to each of them, after the constants of the
-- domain (`constants` in steps.rs).
-- KEYS, all with the hash tag of the schedule:
--  1 room       hash: open, the epoch in which it was opened; opened_at; returned, set once a fan
--               was restored to the line or may be; base, below which no number is this room's;
--               run, next, to: numbers from run to next are assigned, the block ends at to; given,
--               the runs before ('from-to from-to '); index_from, index_next, index_to: the block
--               of the lobby's indexes; n_lobby, above all indexes; closing, set once the draw is
--               due; drawing (the size of the draw), drawn_first (the first drawn number),
--               drawn_up_to (the progress of the draw), drawn (the size of the complete draw),
--               drawn_earlier, set if another room drew; saved, saved_at (budget);
--               admitted, left, expired, outflow_first; spent_below
--  2 waiting    sorted set: fan by number
--  3 entries    hash: fan -> 'number admitted_at expires_at extensions_left is_claimed'
--  4 slots      sorted set: fan by the moment at which the slot becomes free
--  5 lapsed     sorted set: fan by the moment at which the expiry of their entry was seen
--  6 lobby      hash: index -> fan, or empty if the fan left; no field: unclaimed
--  7 gathered   hash: fan -> index
--  8 unclaimed  hash: index -> number, and 'n' with the number -> index, of fans who were in the
--               lobby before the room was lost
--  9 spent      sorted set: numbers that this room didn't assign, but admitted or saw leave
-- 10 outflow    hash: second -> admitted fans
-- 11 changes    stream: changes of the line and the lobby, with the fans' tags, for the nodes'
--               replicas. Without it every node has to copy the room again.
-- 12 drawing    set while a node draws
-- Result of a step: {a word, {its values}}.
local ROOM, WAITING, ENTRIES, SLOTS, LAPSED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local LOBBY, GATHERED, UNCLAIMED, SPENT = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local OUTFLOW, CHANGES, DRAWING = KEYS[10], KEYS[11], KEYS[12]

local DRAWING_MS = 2000
-- Numbers are exact up to here.
local NUMBER_MAX = 2 ^ 53
-- A room expires when no step runs in it for this long; the TTL is renewed once a day.
local KEPT_MS, DAY_MS = 7 * 86400000, 86400000
-- A node whose replica is further behind copies the room again.
local CHANGES_MAX = 50000
-- How many spent numbers are remembered one by one.
local SPENT_MAX = 100000

-- By default, Redis writes large numbers with an exponent.
local function text(number)
  return string.format('%.0f', number)
end

local function field(name)
  return tonumber(redis.call('hget', ROOM, name))
end

-- Every step ends with this, so that every key it leaves expires.
local function put_off_the_end()
  local is_due = redis.call('pttl', ROOM) < KEPT_MS - DAY_MS
  for _, key in ipairs(KEYS) do
    -- The draw's claim has its own TTL.
    if is_due and key ~= DRAWING then
      redis.call('pexpire', key, KEPT_MS)
    else
      redis.call('pexpire', key, KEPT_MS, 'nx')
    end
  end
end

-- One lifetime of this server. It changes after a restart (the run id), and on a replica that was
-- promoted or a master that was demoted and promoted again (the replication id): writes that the
-- room acknowledged may then be missing.
local this_epoch
local function epoch()
  if not this_epoch then
    local run = string.match(redis.call('info', 'server'), 'run_id:(%x+)')
    local history = string.match(redis.call('info', 'replication'), 'master_replid:(%x+)')
    this_epoch = run .. history
  end
  return this_epoch
end

-- A room that isn't open is new, was lost, or may have lost its last writes. Only `restore` opens
-- one, so that no fan is admitted before those inside are counted.
local function is_open()
  return redis.call('hget', ROOM, 'open') == epoch()
end

-- Whether there is a room, whatever it may have lost.
local function is_kept()
  return redis.call('hexists', ROOM, 'base') == 1
end

local function start(now, base)
  -- A server short of memory may have evicted the room's hash without the other keys.
  redis.call('unlink', unpack(KEYS))
  redis.call('hset', ROOM, 'base', base, 'run', base, 'next', base, 'to', base,
    'opened_at', text(now))
end

-- The last bytes of a fan's id, which are random: with the number they identify the fan in
-- replicas.
local function tag(fan)
  return string.sub(fan, -8)
end

-- Adds a change for the nodes' replicas: 'join' with a number or 'gather' with an index and the
-- fan's tag, 'leave' with a number, 'go' with an index, 'admit' up to a number.
local function tell(what, value, fan)
  redis.call('xadd', CHANGES, 'maxlen', '~', CHANGES_MAX, '*', what, text(value),
    'fan', fan and tag(fan) or '')
end

-- What a step needs from the store before it can continue: above which number; for the draw, over
-- how many indexes, out of which block.
local function need(what, n_gathered, block)
  return {'need', {epoch(), what, text(field('next')), text(n_gathered or 0), text(block or 0)}}
end

-- Assigns consecutive numbers from here on, and remembers the run before.
local function begin_run(from)
  local run, next = field('run') or field('base'), field('next')
  if run < next then
    local given = redis.call('hget', ROOM, 'given') or ''
    redis.call('hset', ROOM, 'given', given .. text(run) .. '-' .. text(next) .. ' ')
  end
  redis.call('hset', ROOM, 'run', text(from), 'next', text(from), 'to', text(from))
end

-- Begins the draw that the store decided. Numbers drawn before this room existed are restored like
-- any others.
local function take_draw(n_drawn, first)
  if redis.call('hexists', ROOM, 'drawn') == 1 or field('drawing') then
    return
  end
  if first < field('next') then
    redis.call('hset', ROOM, 'drawn', text(n_drawn), 'drawn_first', text(first),
      'drawn_earlier', 1)
    redis.call('unlink', LOBBY, GATHERED, CHANGES)
  else
    redis.call('hset', ROOM, 'drawing', text(n_drawn), 'drawn_up_to', 0,
      'drawn_first', text(first))
  end
end

-- Frees the slots that ended by now. Every step begins with this, so the remaining ones are live. A
-- room that isn't open may have lost a claim, so an unclaimed entry doesn't expire in it.
local function sweep(now)
  if not is_open() then
    return
  end
  local ended = redis.call('zrangebyscore', SLOTS, '-inf', text(now))
  for _, fan in ipairs(ended) do
    redis.call('zrem', SLOTS, fan)
    redis.call('hdel', ENTRIES, fan)
    redis.call('zadd', LAPSED, text(now), fan)
  end
  if #ended > 0 then
    redis.call('hincrby', ROOM, 'expired', #ended)
    redis.call('zremrangebyscore', LAPSED, '-inf', text(now - LAPSED_FOR_MS))
    redis.call('zremrangebyrank', LAPSED, 0, -LAPSED_MAX - 1)
  end
end

-- What the caller has to do before this step can continue; nil if the order is drawn or the draw
-- isn't due. The store decides the draw, and one caller draws, because every fan calls at the
-- opening. A draw that has begun is finished, even if the opening is postponed meanwhile.
local function first_draw(now, opens_at)
  if redis.call('hexists', ROOM, 'drawn') == 1 then
    return nil
  end
  local n_drawn = field('drawing')
  if not n_drawn then
    if now < opens_at and not field('closing') then
      return nil
    end
    local n_lobby = field('n_lobby') or 0
    if n_lobby == 0 then
      redis.call('hset', ROOM, 'drawn', 0)
      return nil
    end
    redis.call('hset', ROOM, 'closing', 1)
    return need('draw', n_lobby, field('index_from'))
  end
  if redis.call('set', DRAWING, 1, 'nx', 'px', DRAWING_MS) then
    return {'draw', {n_drawn, field('drawn_up_to')}}
  end
  return {'wait', {}}
end

-- Whether this room knows that the number was assigned. Its fan is in line, or has been admitted or
-- has left.
local function was_given(number)
  local run = field('run') or field('base')
  if run <= number and number < field('next') then
    return true
  end
  for from, to in string.gmatch(redis.call('hget', ROOM, 'given') or '', '(%d+)-(%d+) ') do
    if tonumber(from) <= number and number < tonumber(to) then
      return true
    end
  end
  return false
end

-- Whether a number that this room didn't assign was admitted or left in it.
local function is_spent(number)
  local is_long_ago = number < field('base') and number < (field('spent_below') or 0)
  return is_long_ago or redis.call('zscore', SPENT, text(number)) ~= false
end

local function is_taken(number)
  local score = text(number)
  return redis.call('zcount', WAITING, score, score) > 0 or is_spent(number)
end

-- Remembers a number as spent. Beyond the limit, the smallest are merged: everything up to them
-- counts as spent. That admits no fan twice. It costs a fan the number only if so many from behind
-- it were admitted before the fan came back, and by then the line had passed them long ago.
local function mark_spent(number)
  redis.call('zadd', SPENT, text(number), text(number))
  if redis.call('zcard', SPENT) > SPENT_MAX then
    local smallest = tonumber(redis.call('zpopmin', SPENT)[1])
    redis.call('hset', ROOM, 'spent_below', text(math.max(field('spent_below') or 0, smallest + 1)))
  end
end

-- Numbers of this room need no mark: they are never restored.
local function spend(number)
  if not was_given(number) then
    mark_spent(number)
  end
end

local function entry_of(fan)
  local packed = redis.call('hget', ENTRIES, fan)
  if not packed then
    return nil
  end
  local number, admitted_at, expires_at, extensions_left, is_claimed =
    string.match(packed, '^(%S+) (%S+) (%S+) (%S+) (%S+)$')
  return {
    number = tonumber(number),
    admitted_at = tonumber(admitted_at),
    expires_at = tonumber(expires_at),
    extensions_left = tonumber(extensions_left),
    is_claimed = is_claimed == '1',
  }
end

local function put_entry(fan, entry, ends_at)
  local packed = table.concat({
    text(entry.number), text(entry.admitted_at), text(entry.expires_at),
    text(entry.extensions_left), entry.is_claimed and '1' or '0',
  }, ' ')
  redis.call('hset', ENTRIES, fan, packed)
  redis.call('zadd', SLOTS, text(ends_at), fan)
  redis.call('zrem', LAPSED, fan)
end

-- The fan's entry. Reading it claims it.
local function claim(fan)
  local entry = entry_of(fan)
  if entry and not entry.is_claimed then
    entry.is_claimed = true
    put_entry(fan, entry, entry.expires_at)
  end
  return entry
end

local function inside(entry)
  return {'inside', {entry.number, entry.admitted_at, entry.expires_at, entry.extensions_left}}
end

-- The fan's position. Reading it claims a new entry.
local function look(fan)
  local entry = claim(fan)
  if entry then
    return inside(entry)
  end
  local number = tonumber(redis.call('zscore', WAITING, fan))
  if number then
    local ahead = redis.call('zrank', WAITING, fan)
    return {'waiting', {number, ahead, redis.call('zcard', WAITING) - ahead - 1}}
  end
  local index = tonumber(redis.call('hget', GATHERED, fan))
  if index then
    return {'lobby', {index, redis.call('hlen', GATHERED)}}
  end
  return {redis.call('zscore', LAPSED, fan) and 'expired' or 'absent', {}}
end

-- Gives up the place or the entry. Result: the freed number and index, or nil.
local function leave(fan)
  redis.call('zrem', LAPSED, fan)
  local was_here = redis.call('zrem', SLOTS, fan) == 1
  redis.call('hdel', ENTRIES, fan)
  local number = tonumber(redis.call('zscore', WAITING, fan))
  if number then
    redis.call('zrem', WAITING, fan)
    tell('leave', number)
    spend(number)
    was_here = true
  end
  local index = redis.call('hget', GATHERED, fan)
  if index then
    redis.call('hdel', GATHERED, fan)
    -- The index is never assigned again.
    redis.call('hset', LOBBY, index, '')
    tell('go', tonumber(index))
    was_here = true
  end
  if was_here then
    redis.call('hincrby', ROOM, 'left', 1)
  end
  return number and text(number) or '', index or ''
end

-- Fans admitted in the last minute, and the seconds that these cover.
local function outflow(now)
  local second, n_fans = math.floor(now / 1000), 0
  local counts = redis.call('hgetall', OUTFLOW)
  for at = 1, #counts, 2 do
    if math.abs(second - tonumber(counts[at])) < OUTFLOW_SECONDS then
      n_fans = n_fans + tonumber(counts[at + 1])
    else
      redis.call('hdel', OUTFLOW, counts[at])
    end
  end
  local n_seconds = second - (field('outflow_first') or second) + 1
  return n_fans, math.min(math.max(n_seconds, 1), OUTFLOW_SECONDS)
end

local function count_admitted(n_fans, now)
  local second = text(math.floor(now / 1000))
  -- Start over after a lull, which would make the first estimates far too long.
  if outflow(now) == 0 then
    redis.call('hset', ROOM, 'outflow_first', second)
  end
  redis.call('hincrby', OUTFLOW, second, n_fans)
  redis.call('hincrby', ROOM, 'admitted', n_fans)
end

-- ARGV[1] now, [2] opens_at, [3] most fans inside, [4] fans per second, [5] length of an entry, [6]
-- claim window, [7] extensions of an entry, [8] 1 if the mode admits fans. Times in ms.
local function rules_of_call()
  return {
    now = tonumber(ARGV[1]),
    opens_at = tonumber(ARGV[2]),
    max_active = tonumber(ARGV[3]),
    rate = tonumber(ARGV[4]),
    ttl_ms = tonumber(ARGV[5]),
    claim_ms = tonumber(ARGV[6]),
    extensions = tonumber(ARGV[7]),
    is_admitting = ARGV[8] == '1',
  }
end

-- How many fans can be admitted: the minimum of free slots, budget and waiting fans. Spends the
-- budget, which fills at the rate, counts thousandths of fans and saves at most one second's worth.
local function fans_to_admit(rules)
  local full = rules.rate * 1000
  local saved, at = field('saved') or full, field('saved_at') or rules.now
  saved = math.min(saved + math.max(rules.now - at, 0) * rules.rate, full)
  if rules.now > at or at - rules.now >= OVERTAKING_MS then
    at = rules.now
  end
  local n_fans = 0
  if rules.is_admitting then
    local n_free = math.max(rules.max_active - redis.call('zcard', SLOTS), 0)
    n_fans = math.min(n_free, math.floor(saved / 1000), redis.call('zcard', WAITING))
  end
  redis.call('hset', ROOM, 'saved', text(saved - n_fans * 1000), 'saved_at', text(at))
  return n_fans
end

-- Whether this room replaces a lost one and its fans may still be on their way back.
local function is_gathering_again(now)
  return field('returned') and now < field('opened_at') + RETURN_WINDOW_MS
end

-- Admits fans by the rules, in order. Result: fan, number, fan, number…
local function admit(rules)
  local admitted = {}
  local is_early = rules.now < rules.opens_at or is_gathering_again(rules.now)
  local n_fans = is_early and 0 or fans_to_admit(rules)
  if n_fans == 0 then
    return admitted
  end
  count_admitted(n_fans, rules.now)
  local popped = redis.call('zpopmin', WAITING, n_fans)
  for at = 1, #popped, 2 do
    local fan, number = popped[at], tonumber(popped[at + 1])
    spend(number)
    local entry = {
      number = number,
      admitted_at = rules.now,
      expires_at = rules.now + rules.ttl_ms,
      extensions_left = rules.extensions,
      is_claimed = false,
    }
    put_entry(fan, entry, math.min(entry.expires_at, rules.now + rules.claim_ms))
    admitted[at], admitted[at + 1] = fan, text(number)
  end
  tell('admit', tonumber(popped[#popped]))
  return admitted
end
