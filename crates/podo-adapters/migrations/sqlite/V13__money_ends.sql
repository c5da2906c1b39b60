-- Calling off an event calls off its dates. Events that were called off before did so in effect.
update event_schedules set status = 'CANCELLED'
 where status <> 'CANCELLED' and event_id in (select id from events where status = 'CANCELLED');

-- Items of jobs that failed: each waits by itself, and the others go on.
create table job_failures (
    job        text not null,
    item       blob not null,
    attempts   integer not null,
    next_at    integer not null,
    last_error text not null,
    created_at integer not null,
    updated_at integer not null,
    primary key (job, item)
) without rowid;

create index job_failures_next on job_failures (next_at);

-- Refunds of one payment have numbers and are made one after the other. `book_before` is what the
-- gateway's book showed when one was first sent, null before that; `taken_until` ends the time in which
-- one node alone makes it. One that an organiser ended by hand is not in the gateway's book.
alter table refunds add column number integer not null default 0;
alter table refunds add column book_before integer;
alter table refunds add column taken_until integer;
alter table refunds add column by_hand integer not null default 0;
alter table refunds add column evidence text;

update refunds set number = (select count(*) from refunds o
                              where o.payment_id = refunds.payment_id and o.id <= refunds.id);
update refunds set book_before = (select coalesce(sum(o.amount), 0) from refunds o
                                   where o.payment_id = refunds.payment_id
                                     and o.status = 'REFUNDED' and o.destination = 'ORIGINAL')
 where status = 'DUE' and attempts > 0;

-- The version before gives no numbers.
create unique index refunds_number on refunds (payment_id, number) where number > 0;
