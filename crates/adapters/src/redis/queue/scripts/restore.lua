-- Opens a room, and brings back entries that the store remembers.
-- KEYS see room.lua.
-- ARGV[1] now; [2] 1 in the last call for this room; what the caller knows of the room that was
-- lost: [3] n_lobby, [4] drawn, [5] drawn_first, or 0; [6] max_active; then for each entry: the fan,
-- number, admitted_at, expires_at, extensions_left. Times in ms.
-- Result: 'done'.
local now = tonumber(ARGV[1])
if not field('base') then
  start(now)
  if ARGV[4] ~= '0' then
    redis.call('hset', ROOM, 'drawn', ARGV[4], 'drawn_first', ARGV[5])
  elseif ARGV[3] ~= '0' then
    -- Whoever does not come back in time is drawn all the same.
    redis.call('hset', ROOM, 'n_lobby', ARGV[3])
  end
end
sweep(now)
-- Whoever was let in before the room was lost stays, however many they are. But since it is open
-- their slots may have gone to others.
local n_free = math.huge
if is_open() then
  n_free = tonumber(ARGV[6]) - redis.call('zcard', SLOTS)
end
for at = 7, #ARGV, 5 do
  local fan = ARGV[at]
  local entry = {
    number = tonumber(ARGV[at + 1]),
    admitted_at = tonumber(ARGV[at + 2]),
    expires_at = tonumber(ARGV[at + 3]),
    extensions_left = tonumber(ARGV[at + 4]),
    -- Whether they had been seen is forgotten, and throwing out a fan who is choosing seats is
    -- worse than an empty slot.
    is_claimed = true,
  }
  -- A number that this room gave, or knows as admitted, was given back since: another node starts
  -- while the room is alive, and nothing was lost.
  local is_lost = not is_of_this_run(entry.number) and not is_spent(entry.number)
  if n_free > 0 and is_lost and now < entry.expires_at
    and redis.call('hexists', ENTRIES, fan) == 0 then
    n_free = n_free - 1
    -- Somebody who came back before their entry did waits in line for what they have.
    leave(fan)
    mark_spent(entry.number)
    put_entry(fan, entry, entry.expires_at)
  end
end
if ARGV[2] == '1' then
  redis.call('hset', ROOM, 'open', 1)
end
return {'done', {}}
