-- A fan's live entry; asking claims it.
-- KEYS see room.lua.
-- ARGV[1] now, in ms; [2] the fan.
-- Result: 'inside' with the entry, or 'absent'.
if not is_open() then
  return {'absent', {}}
end
sweep(tonumber(ARGV[1]))
local entry = claim(ARGV[2])
return entry and inside(entry) or {'absent', {}}
