-- The changes since a node's last request. KEYS see room.lua.
-- ARGV[1] now; [2] opens_at, in ms; [3] the last change that the node has seen, or empty; [4] the
-- epoch in which it saw it; [5] how many changes at most.
-- Result: 'changes', or 'reload' if the node has missed some, or saw some that were lost since: it
-- then copies everything by `copy` and continues from the change named here. Values: the last
-- change, the epoch, base, drawn or '', drawn_first, n_lobby; then what, value, the last bytes of
-- the fan's id or '', what, value…
-- Or 'closed', or 'need' or 'draw' (see first_draw). While another node draws, the lobby is
-- unchanged.
if not is_open() then
  return {'closed', {}}
end
local now, seen = tonumber(ARGV[1]), ARGV[3]
sweep(now)
local todo = first_draw(now, tonumber(ARGV[2]))
if todo and todo[1] ~= 'wait' then
  return todo
end
local values = {
  seen, epoch(), text(field('base')), redis.call('hget', ROOM, 'drawn') or '',
  text(field('drawn_first') or 0), field('n_lobby') or 0,
}
local changes = {}
if seen ~= '' and ARGV[4] == epoch() then
  changes = redis.call('xrange', CHANGES, seen, '+', 'count', tonumber(ARGV[5]) + 1)
end
-- The last change seen must exist; otherwise later ones may be gone too.
if #changes == 0 or changes[1][1] ~= seen then
  local last = redis.call('xrevrange', CHANGES, '+', '-', 'count', 1)[1]
  values[1] = last and last[1] or redis.call('xadd', CHANGES, '*', 'start', 0)
  return {'reload', values}
end
values[1] = changes[#changes][1]
for at = 2, #changes do
  local change = changes[at][2]
  values[#values + 1], values[#values + 2] = change[1], change[2]
  values[#values + 1] = change[4] or ''
end
return {'changes', values}
