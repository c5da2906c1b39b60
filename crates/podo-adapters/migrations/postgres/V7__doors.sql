-- Proofs of a moment ago, accounts that wait for their address to be confirmed, and traces.

set local search_path to user_service;

-- When somebody last showed that it is them: at the log-in, or again before something that matters.
alter table auth_tokens add column proven_at timestamptz;

-- Personal fields are sealed for the account to be, whose id this is.
create table sign_ups (
    id            uuid not null primary key,
    email         bytea not null,
    email_hash    bytea not null,
    password_hash text not null,
    name          bytea not null,
    phone         bytea,
    phone_hash    bytea,
    -- Whose address it is already; then no code makes an account of it.
    taken_by      uuid,
    -- Sealed, for the letter; the keyed hash is what an answer is compared with.
    code          bytea not null,
    code_hash     bytea not null,
    language      text not null,
    n_tries       bigint not null default 0,
    expires_at    timestamptz not null,
    created_at    timestamptz not null
);

create index sign_ups_expires on sign_ups (expires_at);

set local search_path to common;

-- The request that a message comes from (W3C trace context), if somebody follows it.
alter table outbox add column trace text;
