-- One round: frees expired slots and admits as many fans as the rules allow, in order.
-- KEYS see room.lua. ARGV[1–8] see rules_of_call.
-- Result: 'admitted' with fan, number, fan, number…; 'closed'; or 'need', 'draw' or 'wait' (see
-- first_draw).
if not is_open() then
  return {'closed', {}}
end
local rules = rules_of_call()
sweep(rules.now)
local todo = first_draw(rules.now, rules.opens_at)
if todo then
  return todo
end
return {'admitted', admit(rules)}
