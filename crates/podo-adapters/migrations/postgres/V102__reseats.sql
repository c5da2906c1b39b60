-- Bookings that an organiser moved to other seats.
create table reservation_service.reseats (
    id             uuid not null primary key,
    reservation_id uuid not null,
    -- The version of the booking after the move.
    version        bigint not null,
    -- For example A-1 → A-6.
    moved          text not null,
    reason         text not null,
    actor_id       uuid not null,
    created_at     timestamptz not null
);

create index reseats_booking on reservation_service.reseats (reservation_id, id);
