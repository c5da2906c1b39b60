-- Which place numbers and indexes of the lobby are reserved for engines, and the draw once it is
-- decided: an engine that lost its last writes must not give a number twice.
set local search_path to reservation_service;

create table queue_blocks (
    schedule_id  uuid not null primary key,
    numbers_from bigint not null,
    numbers_to   bigint not null,
    indexes_from bigint not null,
    indexes_to   bigint not null,
    n_drawn      bigint,
    drawn_first  bigint,
    updated_at   timestamptz not null,
    constraint queue_blocks_order check (numbers_from <= numbers_to and indexes_from <= indexes_to),
    constraint queue_blocks_draw check ((n_drawn is null) = (drawn_first is null))
);

set local search_path to common;
