-- Groups of seats that organisers keep from sale.
create table allocations (
    id          blob not null primary key,
    schedule_id blob not null
                constraint allocations_date references event_schedules (id),
    name        text not null,
    kind        text not null constraint allocations_kind check
                (kind in ('ARTIST', 'SPONSOR', 'PRODUCTION', 'WHEELCHAIR', 'BOX_OFFICE', 'NEVER',
                          'OTHER')),
    note        text,
    -- When the seats go on sale by themselves, and when they did.
    release_at  integer,
    released_at integer,
    created_at  integer not null,
    updated_at  integer not null
) without rowid;

create unique index allocations_name on allocations (schedule_id, name);
create index allocations_due on allocations (release_at)
    where released_at is null and release_at is not null;

-- The seats of the groups that aren't released, also those with an order of the box office.
create table allocation_seats (
    schedule_id   blob not null,
    seat_index    integer not null,
    allocation_id blob not null
                  constraint allocation_seats_group references allocations (id),
    primary key (schedule_id, seat_index)
) without rowid;

create index allocation_seats_of on allocation_seats (allocation_id, seat_index);

-- A seat may be kept. SQLite can't change a constraint of a table: the table is replaced.
create table seats_with_kept (
    schedule_id blob not null references event_schedules (id),
    seat_index  integer not null,
    number      text not null,
    grade       text not null,
    price       integer not null constraint seats_price check (price between 1 and 100000000),
    state       text not null default 'FREE'
                constraint seats_state check
                (state in ('FREE', 'HELD', 'PAYING', 'SOLD', 'KEPT')),
    -- The reservation that has it, or the allocation that keeps it.
    claim       blob,
    -- Grows with every change of owner: a late command of an earlier owner misses.
    fence       integer not null default 0,
    -- When a hold ends, or until when a free seat rests after it was canceled.
    expires_at  integer,
    primary key (schedule_id, seat_index),
    constraint seats_claimed check ((state = 'FREE') = (claim is null))
) without rowid;

insert into seats_with_kept
       (schedule_id, seat_index, number, grade, price, state, claim, fence, expires_at)
select schedule_id, seat_index, number, grade, price, state, claim, fence, expires_at from seats;

drop table seats;
alter table seats_with_kept rename to seats;
create unique index seats_number on seats (schedule_id, number);
