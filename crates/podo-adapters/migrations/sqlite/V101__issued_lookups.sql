-- Keyed hashes of the phone number and of the first characters of the name of a customer of the desk.
create table issued_lookups (
    hash           blob not null,
    reservation_id blob not null,
    primary key (hash, reservation_id)
) without rowid;

create index issued_lookups_order on issued_lookups (reservation_id);
