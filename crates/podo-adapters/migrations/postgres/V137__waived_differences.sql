-- By how much the new seats cost more than the old ones, where an organiser waived it: such a date
-- brought what its orders say, not what its seats cost.
alter table reservation_service.reseats add column waived bigint;
alter table reservation_service.reseats add column schedule_id uuid;

create index reseats_waived on reservation_service.reseats (schedule_id) where waived is not null;
