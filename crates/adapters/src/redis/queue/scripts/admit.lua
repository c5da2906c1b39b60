-- One round: frees what has expired and lets in as many as the rules allow, in order.
-- KEYS see room.lua.
-- ARGV[1–8] see rules_of_call.
-- Result: 'admitted' with n_lobby, drawn, drawn_first and then fan, number, fan, number…;
-- 'closed'; or 'draw' or 'wait' (see first_draw).
if not is_open() then
  return {'closed', {}}
end
local rules = rules_of_call()
sweep(rules.now)
local todo = first_draw(rules.now, rules.opens_at)
if todo then
  return todo
end
local values = {field('n_lobby') or 0, field('drawn') or 0, text(field('drawn_first') or 0)}
for _, value in ipairs(admit(rules)) do
  values[#values + 1] = value
end
return {'admitted', values}
