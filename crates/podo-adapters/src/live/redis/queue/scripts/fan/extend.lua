-- Extends a live entry. KEYS see room.lua.
-- ARGV[1] now; [2] opens_at; [3] the fan; [4] the extension. Times in ms.
-- Result: 'inside' with the longer entry, 'expired', 'used_up', or 'need', 'draw' or 'wait' (see
-- first_draw).
if not is_open() then
  return {'expired', {}}
end
local now, fan = tonumber(ARGV[1]), ARGV[3]
sweep(now)
local todo = first_draw(now, tonumber(ARGV[2]))
if todo then
  return todo
end
local entry = claim(fan)
if not entry then
  return {'expired', {}}
end
if entry.extensions_left == 0 then
  return {'used_up', {}}
end
-- Added to the end, so that extending early costs nothing.
entry.expires_at = entry.expires_at + tonumber(ARGV[4])
entry.extensions_left = entry.extensions_left - 1
put_entry(fan, entry, entry.expires_at)
return inside(entry)
