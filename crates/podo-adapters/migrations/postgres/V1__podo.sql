-- Podo's tables on PostgreSQL: one schema per service, the same tables and names as on SQLite, in
-- native types. Ids are version 7 UUIDs, amounts whole won. Constraints have names, and the program
-- matches on the names. There is no foreign key across services: user, event, reservation, payment;
-- nor from a history, whose rows are written with the change that they tell of.

create schema if not exists user_service;
create schema if not exists event_service;
create schema if not exists reservation_service;
create schema if not exists payment_service;
create schema if not exists common;

-- ── user service ────────────────────────────────────────────────────────────────────────────────

set local search_path to user_service;

create table users (
    id            uuid not null primary key,
    -- Personal fields are sealed (AES-256-GCM); the hashes are keyed and serve look-up only.
    email         bytea not null,
    email_hash    bytea not null,
    password_hash text not null,
    name          bytea not null,
    phone         bytea,
    phone_hash    bytea,
    ci            bytea,
    ci_hash       bytea,
    di            bytea,
    role          text not null constraint users_role check (role in ('USER', 'ADMIN')),
    status        text not null
                  constraint users_status check (status in ('ACTIVE', 'DORMANT', 'DELETED')),
    created_at    timestamptz not null,
    updated_at    timestamptz not null,
    -- The day of the account until somebody logs in.
    last_login_at timestamptz not null,
    deleted_at    timestamptz,
    -- When the personal fields of a withdrawn account were erased.
    erased_at     timestamptz
);

-- A withdrawn person may come back: only living accounts are unique.
create unique index users_email_live on users (email_hash) where status <> 'DELETED';
create unique index users_ci_live on users (ci_hash) where ci_hash is not null and status <> 'DELETED';
create index users_last_login on users (last_login_at) where status = 'ACTIVE';
create index users_withdrawn on users (deleted_at) where status = 'DELETED' and erased_at is null;

create table auth_tokens (
    id           uuid not null primary key,
    user_id      uuid not null references users (id),
    -- The family: all refresh tokens that came from one log-in.
    session_id   uuid not null,
    -- Only the hash: a stolen database opens no session.
    refresh_hash bytea not null,
    issued_at    timestamptz not null,
    expires_at   timestamptz not null,
    spent_at     timestamptz,
    revoked_at   timestamptz,
    constraint auth_tokens_life check (issued_at < expires_at)
);

create unique index auth_tokens_refresh on auth_tokens (refresh_hash);
create index auth_tokens_session on auth_tokens (session_id);
create index auth_tokens_user on auth_tokens (user_id);
create index auth_tokens_revoked on auth_tokens (revoked_at) where revoked_at is not null;
-- At most one live refresh token per family (I21).
create unique index auth_tokens_one_live on auth_tokens (session_id)
    where spent_at is null and revoked_at is null;

create table login_history (
    id         uuid not null primary key,
    -- Null for an address nobody has: those attempts count too.
    user_id    uuid,
    -- The session that began with it.
    session_id uuid,
    email_hash bytea not null,
    ip         text,
    agent      text,
    method     text not null
               constraint login_history_method check (method in ('EMAIL', 'KAKAO', 'NAVER', 'GOOGLE')),
    success    boolean not null,
    reason     text,
    created_at timestamptz not null
);

create index login_history_user on login_history (user_id, id);
create index login_history_email on login_history (email_hash, id);

-- ── event service ───────────────────────────────────────────────────────────────────────────────

set local search_path to event_service;

create table venues (
    id         uuid not null primary key,
    name       text not null,
    address    text not null,
    city       text not null,
    created_at timestamptz not null,
    updated_at timestamptz not null
);

create table halls (
    id            uuid not null primary key,
    venue_id      uuid not null references venues (id),
    name          text not null,
    capacity      bigint not null constraint halls_capacity check (capacity > 0),
    seat_template jsonb not null,
    created_at    timestamptz not null,
    updated_at    timestamptz not null
);

create unique index halls_name on halls (venue_id, name);

create table events (
    id          uuid not null primary key,
    title       text not null,
    artist      text not null,
    description text not null,
    venue_id    uuid not null references venues (id),
    hall_id     uuid not null references halls (id),
    status      text not null
                constraint events_status check (status in ('PREPARING', 'OPEN', 'ENDED', 'CANCELLED')),
    -- What is kept of a canceled ticket, by days before the show. Null: nothing.
    refund_policy jsonb,
    created_at  timestamptz not null,
    updated_at  timestamptz not null
);

create index events_status_id on events (status, id);

create table event_schedules (
    id              uuid not null primary key,
    event_id        uuid not null references events (id),
    play_sequence   bigint not null,
    starts_at       timestamptz not null,
    ends_at         timestamptz not null,
    sale_starts_at  timestamptz not null,
    sale_ends_at    timestamptz not null,
    status          text not null constraint event_schedules_status
                    check (status in ('UPCOMING', 'ONGOING', 'ENDED', 'CANCELLED')),
    -- The hall's template as it was: a layout never changes once seats exist.
    seat_template   jsonb not null,
    prices          jsonb not null,
    n_seats         bigint not null constraint event_schedules_seats check (n_seats > 0),
    seats_per_person bigint not null default 4,
    -- How long seats of a canceled booking rest before they are sold again.
    resale_min_seconds bigint not null default 0,
    resale_max_seconds bigint not null default 0,
    queue_settings  jsonb not null,
    -- Decides the order of those who gather before the opening; its hash is public from the start.
    draw_seed       bytea not null,
    created_at      timestamptz not null,
    updated_at      timestamptz not null,
    constraint event_schedules_times check (starts_at < ends_at),
    constraint event_schedules_sale check (sale_starts_at < sale_ends_at)
);

create unique index event_schedules_sequence on event_schedules (event_id, play_sequence);
create index event_schedules_sale_window on event_schedules (sale_ends_at, sale_starts_at);

create table seats (
    schedule_id uuid not null references event_schedules (id),
    seat_index  bigint not null,
    number      text not null,
    grade       text not null,
    price       bigint not null constraint seats_price check (price between 1 and 100000000),
    state       text not null default 'FREE'
                constraint seats_state check (state in ('FREE', 'HELD', 'PAYING', 'SOLD')),
    -- The reservation that has it.
    claim       uuid,
    -- Grows with every change of owner: a late command of an earlier owner misses.
    fence       bigint not null default 0,
    -- When a hold ends, or until when a free seat rests after it was canceled.
    expires_at  timestamptz,
    primary key (schedule_id, seat_index),
    constraint seats_claimed check ((state = 'FREE') = (claim is null))
    -- Room for a seat's next states beside it: then its indexes need no change.
) with (fillfactor = 50);

create unique index seats_number on seats (schedule_id, number);

-- ── reservation service ─────────────────────────────────────────────────────────────────────────

set local search_path to reservation_service;

create table reservations (
    id                   uuid not null primary key,
    user_id              uuid not null,
    schedule_id          uuid not null,
    status               text not null constraint reservations_status check
                         (status in ('HELD', 'PAYING', 'CONFIRMED', 'CANCELED', 'EXPIRED', 'RELEASED')),
    amount               bigint not null
                         constraint reservations_amount check (amount between 1 and 100000000),
    n_seats              bigint not null constraint reservations_seats check (n_seats between 1 and 4),
    hold_expires_at      timestamptz not null,
    -- The place in the queue whose entry allowed this hold (I19).
    place_number         bigint not null,
    payment_window_given boolean not null default false,
    retry_window_given   boolean not null default false,
    booking_number       text,
    -- Counts the changes; the message of each carries it as its number.
    version              bigint not null,
    created_at           timestamptz not null,
    updated_at           timestamptz not null
);

create index reservations_user on reservations (user_id, id);
create index reservations_due on reservations (hold_expires_at) where status = 'HELD';
create unique index reservations_booking_number on reservations (booking_number)
    where booking_number is not null;

create table reservation_history (
    reservation_id uuid not null,
    version        bigint not null,
    status         text not null,
    created_at     timestamptz not null,
    primary key (reservation_id, version)
);

create table reservation_seats (
    reservation_id uuid not null references reservations (id),
    schedule_id    uuid not null,
    seat_index     bigint not null,
    -- What the fan was promised, whatever happens to the seat's description later.
    number         text not null,
    grade          text not null,
    price          bigint not null constraint reservation_seats_price check (price > 0),
    fence          bigint not null,
    active         boolean not null,
    primary key (reservation_id, seat_index)
);

-- The last barrier: a seat has at most one active claim (I1). A canceled one never blocks a re-sale.
create unique index reservation_seats_one_claim on reservation_seats (schedule_id, seat_index)
    where active;

create table queue_history (
    schedule_id     uuid not null,
    place_number    bigint not null,
    user_id         uuid not null,
    state           text not null
                    constraint queue_history_state check (state in ('WAITING', 'ACTIVE', 'EXPIRED')),
    activated_at    timestamptz,
    expires_at      timestamptz,
    extensions_left bigint not null,
    ended_reason    text,
    created_at      timestamptz not null,
    updated_at      timestamptz not null,
    primary key (schedule_id, place_number)
);

create index queue_history_user on queue_history (user_id, created_at);
create index queue_history_active on queue_history (expires_at) where state = 'ACTIVE';

-- ── payment service ─────────────────────────────────────────────────────────────────────────────

set local search_path to payment_service;

create table payments (
    id             uuid not null primary key,
    reservation_id uuid not null,
    user_id        uuid not null,
    method         text not null constraint payments_method check (method in ('WALLET', 'CARD')),
    gateway        text,
    status         text not null constraint payments_status check
                   (status in ('READY', 'REQUESTED', 'UNKNOWN', 'CAPTURED', 'PARTIALLY_REFUNDED',
                               'REFUND_DUE', 'REFUNDED', 'FAILED', 'CANCELED')),
    amount         bigint not null constraint payments_amount check (amount between 1 and 100000000),
    captured       bigint not null default 0,
    refunded       bigint not null default 0,
    -- What refunds that are due have yet to give back.
    promised       bigint not null default 0,
    -- The gateway's name for it, and the fields of its answer that we may keep.
    gateway_ref    text,
    gateway_answer jsonb,
    failure_reason text,
    -- The idempotency key of the confirm call, so that whoever settles can complete its answer.
    confirm_key    text,
    requested_at   timestamptz,
    asked_at       timestamptz,
    created_at     timestamptz not null,
    updated_at     timestamptz not null,
    -- Never more goes back than came in, counting what is promised.
    constraint payments_refunds check (0 <= refunded and 0 <= promised and refunded + promised <= captured)
);

create index payments_reservation on payments (reservation_id);
create index payments_open on payments (asked_at) where status in ('REQUESTED', 'UNKNOWN');
-- I9: one live attempt and one captured attempt per reservation.
create unique index payments_one_live on payments (reservation_id)
    where status in ('READY', 'REQUESTED', 'UNKNOWN');
create unique index payments_one_captured on payments (reservation_id)
    where status in ('CAPTURED', 'PARTIALLY_REFUNDED');

create table payment_history (
    payment_id uuid not null,
    step       bigint not null,
    status     text not null,
    amount     bigint not null,
    created_at timestamptz not null,
    primary key (payment_id, step)
);

create table refunds (
    id             uuid not null primary key,
    payment_id     uuid not null references payments (id),
    reservation_id uuid not null,
    user_id        uuid not null,
    amount         bigint not null constraint refunds_amount check (amount > 0),
    status         text not null constraint refunds_status check (status in ('DUE', 'REFUNDED')),
    -- What the event keeps, and of which seats: null for money that came for nothing.
    fee            bigint not null default 0 constraint refunds_fee check (fee >= 0),
    seats          jsonb,
    destination    text not null default 'ORIGINAL'
                   constraint refunds_destination check (destination in ('ORIGINAL', 'WALLET')),
    reason         text not null,
    attempts       bigint not null default 0,
    next_at        timestamptz not null,
    last_error     text,
    created_at     timestamptz not null,
    updated_at     timestamptz not null
);

create index refunds_due on refunds (next_at) where status = 'DUE';
create index refunds_payment on refunds (payment_id);

create table wallets (
    user_id    uuid not null primary key,
    balance    bigint not null constraint wallets_balance check (balance >= 0),
    -- Number of the latest movement; the chain of the ledger has no gap.
    version    bigint not null,
    created_at timestamptz not null,
    updated_at timestamptz not null
);

-- Every movement has two rows: the wallet's side and the house's side. They sum to zero (I10).
create table wallet_ledger (
    user_id       uuid not null,
    version       bigint not null,
    account       text not null,
    id            uuid not null,
    kind          text not null
                  constraint wallet_ledger_kind check (kind in ('CHARGE', 'DEBIT', 'REFUND', 'ADJUST')),
    amount        bigint not null,
    balance_after bigint,
    reference     uuid,
    created_at    timestamptz not null,
    primary key (user_id, version, account)
);

create function wallet_ledger_is_final() returns trigger language plpgsql as $$
begin
    raise exception 'wallet_ledger is append-only';
end;
$$;

create trigger wallet_ledger_is_final before update or delete on wallet_ledger
    for each row execute function wallet_ledger_is_final();

create table tickets (
    id             uuid not null primary key,
    reservation_id uuid not null,
    user_id        uuid not null,
    schedule_id    uuid not null,
    seat_index     bigint not null,
    seat_number    text not null,
    grade          text not null,
    status         text not null constraint tickets_status check (status in ('VALID', 'USED', 'VOID')),
    -- 128 random bits in the QR code.
    code           bytea not null,
    used_at        timestamptz,
    created_at     timestamptz not null,
    updated_at     timestamptz not null
);

create index tickets_user on tickets (user_id, id);
create index tickets_reservation on tickets (reservation_id);
create unique index tickets_one_per_seat on tickets (schedule_id, seat_index) where status <> 'VOID';

-- The book of the built-in sandbox gateway: a stand-in for a company with a memory of its own.
create table sandbox_book (
    payment_id  uuid not null primary key,
    payment_key text not null,
    choice      text not null,
    amount      bigint not null,
    captured    bigint not null default 0,
    refunded    bigint not null default 0,
    voided      boolean not null default false,
    asked       bigint not null default 0,
    created_at  timestamptz not null,
    updated_at  timestamptz not null
);

-- ── common ──────────────────────────────────────────────────────────────────────────────────────

set local search_path to common;

create table idempotency_keys (
    user_id     uuid not null,
    endpoint    text not null,
    key         text not null,
    -- SHA-256 of the body: the same key with another body is refused.
    fingerprint bytea not null,
    -- Null while the work is under way.
    status      bigint,
    body        text,
    created_at  timestamptz not null,
    primary key (user_id, endpoint, key)
);

create index idempotency_keys_age on idempotency_keys (created_at);

create table outbox (
    id           uuid not null primary key,
    aggregate_id uuid not null,
    -- No gaps per aggregate: the consumer can tell what it missed (I14).
    seq          bigint not null,
    topic        text not null,
    kind         text not null,
    -- Messages with one key keep their order.
    key          uuid not null,
    payload      jsonb not null,
    status       text not null
                 constraint outbox_status check (status in ('PENDING', 'PUBLISHED', 'DEAD')),
    attempts     bigint not null default 0,
    next_at      timestamptz not null,
    last_error   text,
    created_at   timestamptz not null,
    published_at timestamptz
);

create unique index outbox_seq on outbox (aggregate_id, seq);
create index outbox_pending on outbox (id) where status = 'PENDING';
create index outbox_dead on outbox (id) where status = 'DEAD';
create index outbox_published on outbox (published_at) where status = 'PUBLISHED';

create table processed_messages (
    message_id   uuid not null,
    consumer     text not null,
    processed_at timestamptz not null,
    primary key (message_id, consumer)
);

create index processed_messages_age on processed_messages (processed_at);

-- Where notifications go when no provider is configured; the control room shows it.
create table mailbox (
    message_id uuid not null,
    channel    text not null,
    user_id    uuid not null,
    subject    text not null,
    body       text not null,
    created_at timestamptz not null,
    primary key (message_id, channel, user_id)
);

create index mailbox_user on mailbox (user_id, created_at);

create table audit_log (
    seq        bigint not null primary key,
    actor_id   uuid not null,
    action     text not null,
    subject    text not null,
    details    text not null,
    created_at timestamptz not null,
    -- SHA-256 over the previous row's hash and this row: the chain shows any change.
    hash       bytea not null
);
