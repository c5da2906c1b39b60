-- Takes what the store reserved. KEYS see room.lua.
-- ARGV[1] now, in ms; [2] the epoch that needed it: another one must not use the same block; [3],
-- [4] the numbers from and to, or empty; [5], [6] the indexes from and to, or empty; [7] drawn or
-- empty, [8] drawn_first.
-- Result: 'done'.
if not is_open() or ARGV[2] ~= epoch() then
  return {'done', {}}
end
if ARGV[7] ~= '' then
  take_draw(tonumber(ARGV[7]), tonumber(ARGV[8]))
end
-- A late block may begin below numbers assigned since, or find some left.
if ARGV[3] ~= '' and field('next') >= (field('to') or 0) then
  local from = math.max(tonumber(ARGV[3]), field('next'))
  if from ~= field('next') then
    begin_run(from)
  end
  redis.call('hset', ROOM, 'to', text(math.max(tonumber(ARGV[4]), from)))
end
local index_to = field('index_to') or 0
if ARGV[5] ~= '' and (field('index_next') or 0) >= index_to and index_to <= tonumber(ARGV[5]) then
  redis.call('hset', ROOM, 'index_from', ARGV[5], 'index_next', ARGV[5], 'index_to', ARGV[6])
end
return {'done', {}}
