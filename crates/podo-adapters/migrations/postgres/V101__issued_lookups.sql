-- Keyed hashes of the phone number and of the first characters of the name of a customer of the desk.
create table reservation_service.issued_lookups (
    hash           bytea not null,
    reservation_id uuid not null,
    primary key (hash, reservation_id)
);

create index issued_lookups_order on reservation_service.issued_lookups (reservation_id);
