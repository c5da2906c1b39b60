-- By how much the new seats cost more than the old ones, where an organiser waived it: such a date
-- brought what its orders say, not what its seats cost.
alter table reseats add column waived integer;
alter table reseats add column schedule_id blob;

create index reseats_waived on reseats (schedule_id) where waived is not null;
