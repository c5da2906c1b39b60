-- Groups of seats that organisers keep from sale.
create table event_service.allocations (
    id          uuid not null primary key,
    schedule_id uuid not null
                constraint allocations_date references event_service.event_schedules (id),
    name        text not null,
    kind        text not null constraint allocations_kind check
                (kind in ('ARTIST', 'SPONSOR', 'PRODUCTION', 'WHEELCHAIR', 'BOX_OFFICE', 'NEVER',
                          'OTHER')),
    note        text,
    -- When the seats go on sale by themselves, and when they did.
    release_at  timestamptz,
    released_at timestamptz,
    created_at  timestamptz not null,
    updated_at  timestamptz not null
);

create unique index allocations_name on event_service.allocations (schedule_id, name);
create index allocations_due on event_service.allocations (release_at)
    where released_at is null and release_at is not null;

-- The seats of the groups that aren't released, also those with an order of the box office.
create table event_service.allocation_seats (
    schedule_id   uuid not null,
    seat_index    bigint not null,
    allocation_id uuid not null
                  constraint allocation_seats_group references event_service.allocations (id),
    primary key (schedule_id, seat_index)
);

create index allocation_seats_of on event_service.allocation_seats (allocation_id, seat_index);

-- A seat may be kept; then its claim is the allocation. Existing rows satisfy the wider constraint,
-- so they aren't read again.
alter table event_service.seats drop constraint seats_state;
alter table event_service.seats add constraint seats_state
    check (state in ('FREE', 'HELD', 'PAYING', 'SOLD', 'KEPT')) not valid;
