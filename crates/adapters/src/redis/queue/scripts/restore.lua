-- Opens a room, and brings back what the store remembers.
-- KEYS see room.lua.
-- ARGV[1] now; [2] 1 in the last call for this room; [3] the epoch of the survey or of the first
-- call, or nothing; [4] max_active; what the store reserved: [5] numbers_to, [6] indexes_to, [7] drawn or nothing,
-- [8] drawn_first; [9] how many entries are over; for each of those the fan and the number; then for
-- each entry that is alive: the fan, number, admitted_at, expires_at, extensions_left. Times in ms.
-- Result: 'done' with the epoch, or 'other' when this server is not the one of that epoch, or not
-- in the same life.
local now, here = tonumber(ARGV[1]), epoch()
if ARGV[3] ~= '' and ARGV[3] ~= here then
  return {'other', {}}
end

-- Writes may be missing: what is left of the blocks may have been given, and others may be on their
-- way back. What happened here is not what the nodes copied.
local function doubt()
  begin_run(field('next'))
  redis.call('hdel', ROOM, 'open')
  redis.call('hset', ROOM, 'opened_at', text(now), 'returned', 1)
  redis.call('unlink', CHANGES)
end

if not is_kept() then
  start(now, ARGV[5])
elseif redis.call('hexists', ROOM, 'open') == 1 and not is_open() then
  doubt()
end
sweep(now)
-- Whoever was let in before the room was lost stays, however many they are. But since it is open
-- their slots may have gone to others.
local n_free = math.huge
if is_open() then
  n_free = tonumber(ARGV[4]) - redis.call('zcard', SLOTS)
else
  -- Whoever does not come back in time is drawn all the same.
  local n_lobby = math.max(field('n_lobby') or 0, tonumber(ARGV[6]))
  redis.call('hset', ROOM, 'n_lobby', text(n_lobby))
  redis.call('hdel', ROOM, 'index_next', 'index_to')
end

local drawn_from, drawn_to = 0, 0
if ARGV[7] ~= '' then
  drawn_from = tonumber(ARGV[8])
  drawn_to = drawn_from + tonumber(ARGV[7])
end

-- Does the room have the fan at this place, which the store knows to be over?
local function believes_in(fan, number)
  local place = tonumber(redis.call('zscore', WAITING, fan))
  if place then
    return place == number
  end
  -- They were let in with what was drawn for them, of which the room knows nothing.
  if redis.call('hexists', GATHERED, fan) == 1 then
    return drawn_from <= number and number < drawn_to
  end
  local entry = entry_of(fan)
  return entry and entry.number == number
end

local function restore_entry(fan, entry)
  local known = entry_of(fan)
  if known then
    -- That they were seen may be among what was lost, and so may an extension.
    local is_longer = known.expires_at < entry.expires_at
    if known.number == entry.number and (is_longer or n_free == math.huge) then
      known.is_claimed = true
      put_entry(fan, is_longer and entry or known, math.max(known.expires_at, entry.expires_at))
    end
    if known.number == entry.number or now < known.expires_at then
      return
    end
  end
  -- Whoever waits at the number was let in since, and so was the fan of a drawn number that the room
  -- sets aside. Any other number that is given or spent and not in line stands for somebody who came
  -- back before.
  local is_waiting = tonumber(redis.call('zscore', WAITING, fan)) == entry.number
  local index = redis.call('hget', UNCLAIMED, 'n' .. text(entry.number))
  local is_lost = is_waiting or index or not (was_given(entry.number) or is_taken(entry.number))
  if not is_lost or n_free <= 0 then
    return
  end
  n_free = n_free - 1
  -- Somebody who came back before their entry did waits in line for what they have.
  leave(fan)
  if index then
    redis.call('hdel', UNCLAIMED, index, 'n' .. text(entry.number))
  end
  if not was_given(entry.number) then
    mark_spent(entry.number)
  end
  put_entry(fan, entry, entry.expires_at)
end

local at = 10
for _ = 1, tonumber(ARGV[9]) do
  if believes_in(ARGV[at], tonumber(ARGV[at + 1])) then
    leave(ARGV[at])
  end
  at = at + 2
end
for entry_at = at, #ARGV, 5 do
  local entry = {
    number = tonumber(ARGV[entry_at + 1]),
    admitted_at = tonumber(ARGV[entry_at + 2]),
    expires_at = tonumber(ARGV[entry_at + 3]),
    extensions_left = tonumber(ARGV[entry_at + 4]),
    -- Whether they had been seen is forgotten, and throwing out a fan who is choosing seats is
    -- worse than an empty slot.
    is_claimed = true,
  }
  if now < entry.expires_at then
    restore_entry(ARGV[entry_at], entry)
  end
end
if ARGV[2] == '1' then
  if ARGV[7] ~= '' then
    take_draw(tonumber(ARGV[7]), drawn_from)
  end
  redis.call('hset', ROOM, 'open', here)
  sweep(now)
end
return {'done', {here}}
