-- Opens a room, and restores the store's history. KEYS see room.lua.
-- ARGV[1] now; [2] 1 in the last call for this room; [3] the epoch of the survey or of the first
-- call, or empty; [4] max_active; the store's reservations: [5] numbers_to, [6] indexes_to, [7]
-- drawn or empty, [8] drawn_first; [9] the number of ended entries; for each of those the fan and
-- the number; then for each live entry: the fan, number, admitted_at, expires_at, extensions_left.
-- Times in ms.
-- Result: 'done' with the epoch, or 'other' if this server isn't the one of that epoch, or has a
-- new epoch.
local now, here = tonumber(ARGV[1]), epoch()
if ARGV[3] ~= '' and ARGV[3] ~= here then
  return {'other', {}}
end

-- Writes may be missing: the rest of the blocks may have been assigned, and other fans may be on
-- their way back. The room's changes differ from what the nodes copied.
local function invalidate_blocks()
  begin_run(field('next'))
  redis.call('hdel', ROOM, 'open')
  redis.call('hset', ROOM, 'opened_at', text(now), 'returned', 1)
  redis.call('unlink', CHANGES)
end

if not is_kept() then
  start(now, ARGV[5])
elseif redis.call('hexists', ROOM, 'open') == 1 and not is_open() then
  invalidate_blocks()
end
sweep(now)
-- Fans admitted before the room was lost keep their entries, however many they are. But if the room
-- is already open, their slots may have gone to others.
local n_free = math.huge
if is_open() then
  n_free = tonumber(ARGV[4]) - redis.call('zcard', SLOTS)
else
  -- A fan who doesn't come back in time is drawn all the same.
  local n_lobby = math.max(field('n_lobby') or 0, tonumber(ARGV[6]))
  redis.call('hset', ROOM, 'n_lobby', text(n_lobby))
  redis.call('hdel', ROOM, 'index_next', 'index_to')
end

local drawn_from, drawn_to = 0, 0
if ARGV[7] ~= '' then
  drawn_from = tonumber(ARGV[8])
  drawn_to = drawn_from + tonumber(ARGV[7])
end

-- Whether the room still has the fan at this place, which the store knows to be over.
local function believes_in(fan, number)
  local place = tonumber(redis.call('zscore', WAITING, fan))
  if place then
    return place == number
  end
  -- The fan was admitted with a drawn number that the room doesn't know.
  if redis.call('hexists', GATHERED, fan) == 1 then
    return drawn_from <= number and number < drawn_to
  end
  local entry = entry_of(fan)
  return entry and entry.number == number
end

local function restore_entry(fan, entry)
  local known = entry_of(fan)
  if known then
    -- The lost writes may include the claim and an extension.
    local is_longer = known.expires_at < entry.expires_at
    if known.number == entry.number and (is_longer or n_free == math.huge) then
      known.is_claimed = true
      put_entry(fan, is_longer and entry or known, math.max(known.expires_at, entry.expires_at))
    end
    if known.number == entry.number or now < known.expires_at then
      return
    end
  end
  -- A fan who waits at the number was admitted since, and so was the fan of a drawn number that the
  -- room reserves. Any other number that is assigned or spent and not in line belongs to a fan who
  -- was restored before.
  local is_waiting = tonumber(redis.call('zscore', WAITING, fan)) == entry.number
  local index = redis.call('hget', UNCLAIMED, 'n' .. text(entry.number))
  local is_lost = is_waiting or index or not (was_given(entry.number) or is_taken(entry.number))
  if not is_lost or n_free <= 0 then
    return
  end
  n_free = n_free - 1
  -- A fan who came back before their entry was restored waits in line for the slot that they have.
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
    -- The claim may be lost, and expelling a fan who is choosing seats is worse than an idle slot.
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
