-- Proofs of a moment ago, accounts that wait for their address to be confirmed, and traces.

-- When somebody last showed that it is them: at the log-in, or again before something that matters.
alter table auth_tokens add column proven_at integer;

-- Personal fields are sealed for the account to be, whose id this is.
create table sign_ups (
    id            blob not null primary key,
    email         blob not null,
    email_hash    blob not null,
    password_hash text not null,
    name          blob not null,
    phone         blob,
    phone_hash    blob,
    -- Whose address it is already; then no code makes an account of it.
    taken_by      blob,
    -- Sealed, for the letter; the keyed hash is what an answer is compared with.
    code          blob not null,
    code_hash     blob not null,
    language      text not null,
    n_tries       integer not null default 0,
    expires_at    integer not null,
    created_at    integer not null
) without rowid;

create index sign_ups_expires on sign_ups (expires_at);

-- The request that a message comes from (W3C trace context), if somebody follows it.
alter table outbox add column trace text;
