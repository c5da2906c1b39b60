-- What support works with: people found by number and name, notes, resent confirmations, and the
-- history of transfers.

set local search_path to user_service;

create index users_phone on users (phone_hash)
    where phone_hash is not null and status <> 'DELETED';

-- Keyed hashes of the first characters of names. A job adds them, because names are encrypted.
create table name_prefixes (
    hash    bytea not null,
    user_id uuid not null,
    constraint name_prefixes_pkey primary key (hash, user_id)
);

create index name_prefixes_user on name_prefixes (user_id);

alter table users add column name_indexed boolean not null default false;
create index users_names_due on users (id) where not name_indexed and status <> 'DELETED';

-- Notes by staff about a person or one of their bookings; the text is encrypted.
create table support_notes (
    id             uuid not null constraint support_notes_pkey primary key,
    user_id        uuid not null,
    reservation_id uuid,
    author_id      uuid not null,
    body           bytea not null,
    created_at     timestamptz not null
);

create index support_notes_user on support_notes (user_id, id);
create index support_notes_reservation on support_notes (reservation_id, id)
    where reservation_id is not null;

-- Confirmations that staff sent again.
create table reservation_service.resends (
    id             uuid not null constraint resends_pkey primary key,
    reservation_id uuid not null,
    actor_id       uuid not null,
    created_at     timestamptz not null
);

create index resends_reservation on reservation_service.resends (reservation_id, id);

-- Every step of a ticket from one owner to the next.
create table payment_service.transfer_history (
    id             uuid not null constraint transfer_history_pkey primary key,
    ticket_id      uuid not null,
    reservation_id uuid not null,
    kind           text not null constraint transfer_history_kind
                   check (kind in ('OFFERED', 'WITHDRAWN', 'ACCEPTED')),
    -- The owner at that moment, and the next one of an accepted ticket.
    user_id        uuid not null,
    to_user_id     uuid,
    created_at     timestamptz not null
);

create index transfer_history_reservation
    on payment_service.transfer_history (reservation_id, id);
create index transfer_history_user on payment_service.transfer_history (user_id, id);
create index transfer_history_to_user on payment_service.transfer_history (to_user_id, id)
    where to_user_id is not null;

-- The booking that a notification is about.
alter table common.mailbox add column reservation_id uuid;
alter table common.notifications add column reservation_id uuid;

set local search_path to common;
