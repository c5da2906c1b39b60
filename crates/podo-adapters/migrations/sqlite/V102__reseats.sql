-- Bookings that an organiser moved to other seats.
create table reseats (
    id             blob not null primary key,
    reservation_id blob not null,
    -- The version of the booking after the move.
    version        bigint not null,
    -- For example A-1 → A-6.
    moved          text not null,
    reason         text not null,
    actor_id       blob not null,
    created_at     integer not null
) without rowid;

create index reseats_booking on reseats (reservation_id, id);
