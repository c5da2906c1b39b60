-- A fan's live entry; reading claims it. KEYS see room.lua.
-- ARGV[1] now, in ms; [2] the fan. Result: 'inside' with the entry, or 'absent'.
if not is_kept() then
  return {'absent', {}}
end
local now = tonumber(ARGV[1])
sweep(now)
local entry = claim(ARGV[2])
return entry and now < entry.expires_at and inside(entry) or {'absent', {}}
