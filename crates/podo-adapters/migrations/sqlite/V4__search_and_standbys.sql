-- What events are found by: title and artist in lower case, cut into groups of three letters, so
-- that any part of a Korean word is found.
create virtual table events_search using fts5(id unindexed, words, tokenize = 'trigram');

-- Fans who wait for seats of a date that is sold out. Ids sort by age: they are the order.
create table standbys (
    id             blob not null primary key,
    user_id        blob not null,
    schedule_id    blob not null,
    grade          text not null,
    n_seats        integer not null constraint standbys_seats check (n_seats between 1 and 4),
    state          text not null constraint standbys_state
                   check (state in ('WAITING', 'OFFERED', 'TAKEN', 'LAPSED', 'LEFT')),
    -- The hold that was made for the fan.
    reservation_id blob,
    created_at     integer not null,
    updated_at     integer not null
) without rowid;

create index standbys_waiting on standbys (schedule_id, id) where state = 'WAITING';
create unique index standbys_offer on standbys (reservation_id) where reservation_id is not null;
create index standbys_offered on standbys (id) where state = 'OFFERED';
create index standbys_user on standbys (user_id, schedule_id, id);
