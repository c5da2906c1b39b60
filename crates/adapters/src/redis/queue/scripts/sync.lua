-- What changed since a node last asked.
-- KEYS see room.lua.
-- ARGV[1] now; [2] opens_at, in ms; [3] the last change that the node has seen, or nothing; [4]
-- how many changes at most.
-- Result: 'changes', or 'reload' when the node has missed some: then it copies everything by
-- `copy` and goes on from the change named here. Values: the last change, base, drawn or '',
-- drawn_first, n_lobby; then what, value, what, value…
-- Or 'closed', or 'draw' (see first_draw). While somebody else draws, the lobby is as it was.
if not is_open() then
  return {'closed', {}}
end
local now, seen = tonumber(ARGV[1]), ARGV[3]
sweep(now)
local todo = first_draw(now, tonumber(ARGV[2]))
if todo and todo[1] == 'draw' then
  return todo
end
local values = {
  seen, text(field('base')), redis.call('hget', ROOM, 'drawn') or '',
  text(field('drawn_first') or 0), field('n_lobby') or 0,
}
local changes = {}
if seen ~= '' then
  changes = redis.call('xrange', CHANGES, seen, '+', 'count', tonumber(ARGV[4]) + 1)
end
-- The last one seen must be there: if not, what came after it may be gone too.
if #changes == 0 or changes[1][1] ~= seen then
  local last = redis.call('xrevrange', CHANGES, '+', '-', 'count', 1)[1]
  values[1] = last and last[1] or redis.call('xadd', CHANGES, '*', 'start', 0)
  return {'reload', values}
end
values[1] = changes[#changes][1]
for at = 2, #changes do
  values[#values + 1], values[#values + 2] = changes[at][2][1], changes[at][2][2]
end
return {'changes', values}
