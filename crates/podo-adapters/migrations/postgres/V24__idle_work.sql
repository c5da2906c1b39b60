-- Jobs look for work every second or two, so every search of theirs needs an index that contains
-- only that work.
create index event_schedules_canceled on event_service.event_schedules (id)
    where status = 'CANCELLED';
create index event_schedules_stopped on event_service.event_schedules (stopped_at)
    where stopped_at is not null;
create index refunds_unnumbered on payment_service.refunds (id) where status = 'DUE' and number = 0;
create index standbys_line on reservation_service.standbys (id) where state = 'WAITING';

-- The time until a payment is voided counts from the first query of the gateway.
alter table payment_service.payments add column first_asked_at timestamptz;
alter table payment_service.wallet_charges add column first_asked_at timestamptz;
