-- One round: frees what has expired and lets in as many as the rules allow, in order.
-- KEYS see room.lua.
-- ARGV[1–8] see rules_of_call.
-- Result: 'admitted' with fan, number, fan, number…, or 'draw' or 'wait' (see first_draw).
if not is_known() then
  return {'admitted', {}}
end
local rules = rules_of_call()
sweep(rules.now)
return first_draw(rules.now, rules.opens_at) or {'admitted', admit(rules)}
