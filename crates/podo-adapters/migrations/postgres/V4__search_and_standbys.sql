set local search_path to event_service;

-- What events are found by: title and artist in lower case.
create table events_search (
    id    uuid not null primary key references events (id),
    words text not null
);

-- Cut into groups of three letters, so that any part of a Korean word is found quickly. A server
-- without the extension finds the same, by reading all of it.
do $$
begin
    create extension if not exists pg_trgm with schema common;
    create index events_search_words on events_search using gin (words common.gin_trgm_ops);
exception when others then
    raise notice 'events are searched without an index: %', sqlerrm;
end
$$;

set local search_path to reservation_service;

-- Fans who wait for seats of a date that is sold out. Ids sort by age: they are the order.
create table standbys (
    id             uuid not null primary key,
    user_id        uuid not null,
    schedule_id    uuid not null,
    grade          text not null,
    n_seats        bigint not null constraint standbys_seats check (n_seats between 1 and 4),
    state          text not null constraint standbys_state
                   check (state in ('WAITING', 'OFFERED', 'TAKEN', 'LAPSED', 'LEFT')),
    -- The hold that was made for the fan.
    reservation_id uuid,
    created_at     timestamptz not null,
    updated_at     timestamptz not null
);

create index standbys_waiting on standbys (schedule_id, id) where state = 'WAITING';
create unique index standbys_offer on standbys (reservation_id) where reservation_id is not null;
create index standbys_offered on standbys (id) where state = 'OFFERED';
create index standbys_user on standbys (user_id, schedule_id, id);

set local search_path to common;
