-- Ends the entry of a purchase; what the fan has under another number stays. KEYS see room.lua.
-- ARGV[1] now, in ms; [2] the fan; [3] the number of the entry. Result: 'done'.
if not is_kept() then
  return {'done', {}}
end
sweep(tonumber(ARGV[1]))
redis.call('zrem', LAPSED, ARGV[2])
local entry = entry_of(ARGV[2])
if entry and entry.number == tonumber(ARGV[3]) then
  redis.call('hdel', ENTRIES, ARGV[2])
  redis.call('zrem', SLOTS, ARGV[2])
  redis.call('hincrby', ROOM, 'left', 1)
end
return {'done', {}}
