-- Calling off an event calls off its dates. Events that were called off before did so in effect.
update event_service.event_schedules set status = 'CANCELLED'
 where status <> 'CANCELLED' and event_id in (select id from event_service.events where status = 'CANCELLED');

-- Items of jobs that failed: each waits by itself, and the others go on.
create table common.job_failures (
    job        text not null,
    item       uuid not null,
    attempts   bigint not null,
    next_at    timestamptz not null,
    last_error text not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (job, item)
);

create index job_failures_next on common.job_failures (next_at);

-- Refunds of one payment have numbers and are made one after the other. `book_before` is what the
-- gateway's book showed when one was first sent, null before that; `taken_until` ends the time in which
-- one node alone makes it. One that an organiser ended by hand is not in the gateway's book.
alter table payment_service.refunds
    add column number bigint not null default 0,
    add column book_before bigint,
    add column taken_until timestamptz,
    add column by_hand boolean not null default false,
    add column evidence text;

update payment_service.refunds r
   set number = (select count(*) from payment_service.refunds o
                  where o.payment_id = r.payment_id and o.id <= r.id);
update payment_service.refunds r
   set book_before = (select coalesce(sum(o.amount), 0) from payment_service.refunds o
                       where o.payment_id = r.payment_id
                         and o.status = 'REFUNDED' and o.destination = 'ORIGINAL')
 where status = 'DUE' and attempts > 0;

-- The version before gives no numbers.
create unique index refunds_number on payment_service.refunds (payment_id, number) where number > 0;
