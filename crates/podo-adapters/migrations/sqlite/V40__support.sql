-- What support works with: people found by number and name, notes, resent confirmations, and the
-- history of transfers.

create index users_phone on users (phone_hash)
    where phone_hash is not null and status <> 'DELETED';

-- Keyed hashes of the first characters of names. A job adds them, because names are encrypted.
create table name_prefixes (
    hash    blob not null,
    user_id blob not null,
    primary key (hash, user_id)
) without rowid;

create index name_prefixes_user on name_prefixes (user_id);

alter table users add column name_indexed integer not null default 0;
create index users_names_due on users (id) where not name_indexed and status <> 'DELETED';

-- Notes by staff about a person or one of their bookings; the text is encrypted.
create table support_notes (
    id             blob not null primary key,
    user_id        blob not null,
    reservation_id blob,
    author_id      blob not null,
    body           blob not null,
    created_at     integer not null
) without rowid;

create index support_notes_user on support_notes (user_id, id);
create index support_notes_reservation on support_notes (reservation_id, id)
    where reservation_id is not null;

-- Confirmations that staff sent again.
create table resends (
    id             blob not null primary key,
    reservation_id blob not null,
    actor_id       blob not null,
    created_at     integer not null
) without rowid;

create index resends_reservation on resends (reservation_id, id);

-- Every step of a ticket from one owner to the next.
create table transfer_history (
    id             blob not null primary key,
    ticket_id      blob not null,
    reservation_id blob not null,
    kind           text not null constraint transfer_history_kind
                   check (kind in ('OFFERED', 'WITHDRAWN', 'ACCEPTED')),
    -- The owner at that moment, and the next one of an accepted ticket.
    user_id        blob not null,
    to_user_id     blob,
    created_at     integer not null
) without rowid;

create index transfer_history_reservation on transfer_history (reservation_id, id);
create index transfer_history_user on transfer_history (user_id, id);
create index transfer_history_to_user on transfer_history (to_user_id, id)
    where to_user_id is not null;

-- The booking that a notification is about.
alter table mailbox add column reservation_id blob;
alter table notifications add column reservation_id blob;
