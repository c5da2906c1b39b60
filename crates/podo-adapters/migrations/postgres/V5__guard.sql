-- Who a person is, second factors, log-ins through other services, and signs of robots.

set local search_path to user_service;

-- When the person proved who they are. CI and DI are sealed; the keyed hashes find them again.
alter table users add column di_hash bytea;
alter table users add column verified_at timestamptz;
-- An organiser who may look and not touch.
alter table users add column reads_only boolean not null default false;
-- The second factor: its secret (sealed), since when it counts, and the last step that was used.
alter table users add column totp_secret bytea;
alter table users add column totp_since timestamptz;
alter table users add column totp_step bigint;

create index users_ci on users (ci_hash) where ci_hash is not null;
create index users_di on users (di_hash) where di_hash is not null;

-- Accounts at other services that log in to one of ours.
create table social_accounts (
    provider     text not null constraint social_accounts_provider
                 check (provider in ('KAKAO', 'NAVER', 'GOOGLE')),
    -- A keyed hash of how the service names the person.
    subject_hash bytea not null,
    user_id      uuid not null references users (id),
    created_at   timestamptz not null,
    primary key (provider, subject_hash)
);

create index social_accounts_user on social_accounts (user_id);

set local search_path to reservation_service;

-- What looked like a robot, and why; each can be appealed against.
create table bot_signals (
    id          uuid not null primary key,
    user_id     uuid not null,
    schedule_id uuid not null,
    kind        text not null,
    reason      text not null,
    n_seen      bigint not null default 1 constraint bot_signals_seen check (n_seen > 0),
    -- What the fan says about it, sealed.
    appeal      bytea,
    appealed_at timestamptz,
    verdict     text constraint bot_signals_verdict check (verdict in ('UPHELD', 'LIFTED')),
    created_at  timestamptz not null,
    updated_at  timestamptz not null
);

create unique index bot_signals_once on bot_signals (user_id, schedule_id, kind);

set local search_path to common;
