-- Brings back entries that the store remembers.
-- KEYS see room.lua.
-- ARGV[1] now; then for each entry: the fan, number, admitted_at, expires_at, extensions_left.
-- Times in ms.
-- Result: 'done'.
local now = tonumber(ARGV[1])
start(now)
sweep(now)
for at = 2, #ARGV, 5 do
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
  -- A number that this room knows as admitted was given back since: another node starts while the
  -- room is alive, and nothing was lost.
  local is_lost = not is_spent(entry.number)
  if is_lost and now < entry.expires_at and redis.call('hexists', ENTRIES, fan) == 0 then
    -- Somebody who came back before their entry did waits in line for what they have.
    leave(fan)
    mark_spent(entry.number)
    put_entry(fan, entry, entry.expires_at)
  end
end
return {'done', {}}
