-- Gives up a fan's place or entry. KEYS see room.lua. ARGV[1] now, in ms; [2] the fan.
-- Result: 'done' with the freed number and index, or empty for each.
if not is_kept() then
  return {'done', {'', ''}}
end
sweep(tonumber(ARGV[1]))
return {'done', {leave(ARGV[2])}}
