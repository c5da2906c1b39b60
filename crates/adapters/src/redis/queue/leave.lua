-- Gives up a fan's place or entry.
-- KEYS see room.lua.
-- ARGV[1] now, in ms; [2] the fan.
-- Result: 'done'.
if is_known() then
  sweep(tonumber(ARGV[1]))
  leave(ARGV[2])
end
return {'done', {}}
