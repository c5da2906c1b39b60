-- Which place numbers and indexes of the lobby are reserved for engines, and the draw once it is
-- decided: an engine that lost its last writes must not give a number twice.
create table queue_blocks (
    schedule_id  blob not null primary key,
    numbers_from integer not null,
    numbers_to   integer not null,
    indexes_from integer not null,
    indexes_to   integer not null,
    n_drawn      integer,
    drawn_first  integer,
    updated_at   integer not null,
    constraint queue_blocks_order check (numbers_from <= numbers_to and indexes_from <= indexes_to),
    constraint queue_blocks_draw check ((n_drawn is null) = (drawn_first is null))
) without rowid;
