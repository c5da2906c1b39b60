-- Jobs look for work every second or two, so every search of theirs needs an index that contains
-- only that work. SQLite uses a partial index only for a condition in the same words: statements
-- say `active`, as on PostgreSQL, and the index said `active = 1`.
drop index reservation_seats_one_claim;
create unique index reservation_seats_one_claim on reservation_seats (schedule_id, seat_index)
    where active;

create index event_schedules_canceled on event_schedules (id) where status = 'CANCELLED';
create index event_schedules_stopped on event_schedules (stopped_at) where stopped_at is not null;
create index refunds_unnumbered on refunds (id) where status = 'DUE' and number = 0;
create index standbys_line on standbys (id) where state = 'WAITING';

-- The time until a payment is voided counts from the first query of the gateway.
alter table payments add column first_asked_at integer;
alter table wallet_charges add column first_asked_at integer;
