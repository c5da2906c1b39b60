-- A fan's position; reading claims a new entry. KEYS see room.lua.
-- ARGV[1] now; [2] opens_at; [3] the fan. Times in ms.
-- Result: the fan's position, or 'need', 'draw' or 'wait' (see first_draw).
if not is_open() then
  return {'absent', {}}
end
local now = tonumber(ARGV[1])
sweep(now)
return first_draw(now, tonumber(ARGV[2])) or look(ARGV[3])
