-- Podo's tables. Ids are 16-byte UUIDs (version 7, so a table keyed by one grows at its end), times
-- are milliseconds since 1970 in UTC, amounts are whole won. Constraints have names, and the program
-- matches on the names. There is no foreign key across services: user, event, reservation, payment.

-- ── user service ────────────────────────────────────────────────────────────────────────────────

create table users (
    id            blob not null primary key,
    -- Personal fields are sealed (AES-256-GCM); the hashes are keyed and serve look-up only.
    email         blob not null,
    email_hash    blob not null,
    password_hash text not null,
    name          blob not null,
    phone         blob,
    phone_hash    blob,
    ci            blob,
    ci_hash       blob,
    di            blob,
    role          text not null constraint users_role check (role in ('USER', 'ADMIN')),
    status        text not null
                  constraint users_status check (status in ('ACTIVE', 'DORMANT', 'DELETED')),
    created_at    integer not null,
    updated_at    integer not null,
    -- The day of the account until somebody logs in.
    last_login_at integer not null,
    deleted_at    integer,
    -- When the personal fields of a withdrawn account were erased.
    erased_at     integer
) without rowid;

-- A withdrawn person may come back: only living accounts are unique.
create unique index users_email_live on users (email_hash) where status <> 'DELETED';
create unique index users_ci_live on users (ci_hash) where ci_hash is not null and status <> 'DELETED';
create index users_last_login on users (last_login_at) where status = 'ACTIVE';
create index users_withdrawn on users (deleted_at) where status = 'DELETED' and erased_at is null;

create table auth_tokens (
    id           blob not null primary key,
    user_id      blob not null references users (id),
    -- The family: all refresh tokens that came from one log-in.
    session_id   blob not null,
    -- Only the hash: a stolen database opens no session.
    refresh_hash blob not null,
    issued_at    integer not null,
    expires_at   integer not null,
    spent_at     integer,
    revoked_at   integer,
    constraint auth_tokens_life check (issued_at < expires_at)
) without rowid;

create unique index auth_tokens_refresh on auth_tokens (refresh_hash);
create index auth_tokens_session on auth_tokens (session_id);
create index auth_tokens_user on auth_tokens (user_id);
create index auth_tokens_revoked on auth_tokens (revoked_at) where revoked_at is not null;
-- At most one live refresh token per family (I21).
create unique index auth_tokens_one_live on auth_tokens (session_id)
    where spent_at is null and revoked_at is null;

create table login_history (
    id         blob not null primary key,
    -- Null for an address nobody has: those attempts count too.
    user_id    blob,
    -- The session that began with it.
    session_id blob,
    email_hash blob not null,
    ip         text,
    agent      text,
    method     text not null
               constraint login_history_method check (method in ('EMAIL', 'KAKAO', 'NAVER', 'GOOGLE')),
    success    integer not null,
    reason     text,
    created_at integer not null
) without rowid;

create index login_history_user on login_history (user_id, id);
create index login_history_email on login_history (email_hash, id);

-- ── event service ───────────────────────────────────────────────────────────────────────────────

create table venues (
    id         blob not null primary key,
    name       text not null,
    address    text not null,
    city       text not null,
    created_at integer not null,
    updated_at integer not null
) without rowid;

create table halls (
    id            blob not null primary key,
    venue_id      blob not null references venues (id),
    name          text not null,
    capacity      integer not null constraint halls_capacity check (capacity > 0),
    seat_template text not null,
    created_at    integer not null,
    updated_at    integer not null
) without rowid;

create unique index halls_name on halls (venue_id, name);

create table events (
    id          blob not null primary key,
    title       text not null,
    artist      text not null,
    description text not null,
    venue_id    blob not null references venues (id),
    hall_id     blob not null references halls (id),
    status      text not null
                constraint events_status check (status in ('PREPARING', 'OPEN', 'ENDED', 'CANCELLED')),
    -- What is kept of a canceled ticket, by days before the show. Null: nothing.
    refund_policy text,
    created_at  integer not null,
    updated_at  integer not null
) without rowid;

create index events_status_id on events (status, id);

create table event_schedules (
    id              blob not null primary key,
    event_id        blob not null references events (id),
    play_sequence   integer not null,
    starts_at       integer not null,
    ends_at         integer not null,
    sale_starts_at  integer not null,
    sale_ends_at    integer not null,
    status          text not null constraint event_schedules_status
                    check (status in ('UPCOMING', 'ONGOING', 'ENDED', 'CANCELLED')),
    -- The hall's template as it was: a layout never changes once seats exist.
    seat_template   text not null,
    prices          text not null,
    n_seats         integer not null constraint event_schedules_seats check (n_seats > 0),
    seats_per_person integer not null default 4,
    -- How long seats of a canceled booking rest before they are sold again.
    resale_min_seconds integer not null default 0,
    resale_max_seconds integer not null default 0,
    queue_settings  text not null,
    -- Decides the order of those who gather before the opening; its hash is public from the start.
    draw_seed       blob not null,
    created_at      integer not null,
    updated_at      integer not null,
    constraint event_schedules_times check (starts_at < ends_at),
    constraint event_schedules_sale check (sale_starts_at < sale_ends_at)
) without rowid;

create unique index event_schedules_sequence on event_schedules (event_id, play_sequence);
create index event_schedules_sale_window on event_schedules (sale_ends_at, sale_starts_at);

create table seats (
    schedule_id blob not null references event_schedules (id),
    seat_index  integer not null,
    number      text not null,
    grade       text not null,
    price       integer not null constraint seats_price check (price between 1 and 100000000),
    state       text not null default 'FREE'
                constraint seats_state check (state in ('FREE', 'HELD', 'PAYING', 'SOLD')),
    -- The reservation that has it.
    claim       blob,
    -- Grows with every change of owner: a late command of an earlier owner misses.
    fence       integer not null default 0,
    -- When a hold ends, or until when a free seat rests after it was canceled.
    expires_at  integer,
    primary key (schedule_id, seat_index),
    constraint seats_claimed check ((state = 'FREE') = (claim is null))
) without rowid;

create unique index seats_number on seats (schedule_id, number);

-- ── reservation service ─────────────────────────────────────────────────────────────────────────

create table reservations (
    id                   blob not null primary key,
    user_id              blob not null,
    schedule_id          blob not null,
    status               text not null constraint reservations_status check
                         (status in ('HELD', 'PAYING', 'CONFIRMED', 'CANCELED', 'EXPIRED', 'RELEASED')),
    amount               integer not null
                         constraint reservations_amount check (amount between 1 and 100000000),
    n_seats              integer not null constraint reservations_seats check (n_seats between 1 and 4),
    hold_expires_at      integer not null,
    -- The place in the queue whose entry allowed this hold (I19).
    place_number         integer not null,
    payment_window_given integer not null default 0,
    retry_window_given   integer not null default 0,
    booking_number       text,
    -- Counts the changes; the message of each carries it as its number.
    version              integer not null,
    created_at           integer not null,
    updated_at           integer not null
) without rowid;

create index reservations_user on reservations (user_id, id);
create index reservations_due on reservations (hold_expires_at) where status = 'HELD';
create unique index reservations_booking_number on reservations (booking_number)
    where booking_number is not null;

create table reservation_history (
    reservation_id blob not null references reservations (id),
    version        integer not null,
    status         text not null,
    created_at     integer not null,
    primary key (reservation_id, version)
) without rowid;

create table reservation_seats (
    reservation_id blob not null references reservations (id),
    schedule_id    blob not null,
    seat_index     integer not null,
    -- What the fan was promised, whatever happens to the seat's description later.
    number         text not null,
    grade          text not null,
    price          integer not null constraint reservation_seats_price check (price > 0),
    fence          integer not null,
    active         integer not null,
    primary key (reservation_id, seat_index)
) without rowid;

-- The last barrier: a seat has at most one active claim (I1). A canceled one never blocks a re-sale.
create unique index reservation_seats_one_claim on reservation_seats (schedule_id, seat_index)
    where active = 1;

create table queue_history (
    schedule_id     blob not null,
    place_number    integer not null,
    user_id         blob not null,
    state           text not null
                    constraint queue_history_state check (state in ('WAITING', 'ACTIVE', 'EXPIRED')),
    activated_at    integer,
    expires_at      integer,
    extensions_left integer not null,
    ended_reason    text,
    created_at      integer not null,
    updated_at      integer not null,
    primary key (schedule_id, place_number)
) without rowid;

create index queue_history_user on queue_history (user_id, created_at);
create index queue_history_active on queue_history (expires_at) where state = 'ACTIVE';

-- ── payment service ─────────────────────────────────────────────────────────────────────────────

create table payments (
    id             blob not null primary key,
    reservation_id blob not null,
    user_id        blob not null,
    method         text not null constraint payments_method check (method in ('WALLET', 'CARD')),
    gateway        text,
    status         text not null constraint payments_status check
                   (status in ('READY', 'REQUESTED', 'UNKNOWN', 'CAPTURED', 'PARTIALLY_REFUNDED',
                               'REFUND_DUE', 'REFUNDED', 'FAILED', 'CANCELED')),
    amount         integer not null constraint payments_amount check (amount between 1 and 100000000),
    captured       integer not null default 0,
    refunded       integer not null default 0,
    -- What refunds that are due have yet to give back.
    promised       integer not null default 0,
    -- The gateway's name for it, and the fields of its answer that we may keep.
    gateway_ref    text,
    gateway_answer text,
    failure_reason text,
    -- The idempotency key of the confirm call, so that whoever settles can complete its answer.
    confirm_key    text,
    requested_at   integer,
    asked_at       integer,
    created_at     integer not null,
    updated_at     integer not null,
    -- Never more goes back than came in, counting what is promised.
    constraint payments_refunds check (0 <= refunded and 0 <= promised and refunded + promised <= captured)
) without rowid;

create index payments_reservation on payments (reservation_id);
create index payments_open on payments (asked_at) where status in ('REQUESTED', 'UNKNOWN');
-- I9: one live attempt and one captured attempt per reservation.
create unique index payments_one_live on payments (reservation_id)
    where status in ('READY', 'REQUESTED', 'UNKNOWN');
create unique index payments_one_captured on payments (reservation_id)
    where status in ('CAPTURED', 'PARTIALLY_REFUNDED');

create table payment_history (
    payment_id blob not null references payments (id),
    step       integer not null,
    status     text not null,
    amount     integer not null,
    created_at integer not null,
    primary key (payment_id, step)
) without rowid;

create table refunds (
    id             blob not null primary key,
    payment_id     blob not null references payments (id),
    reservation_id blob not null,
    user_id        blob not null,
    amount         integer not null constraint refunds_amount check (amount > 0),
    status         text not null constraint refunds_status check (status in ('DUE', 'REFUNDED')),
    -- What the event keeps, and of which seats: null for money that came for nothing.
    fee            integer not null default 0 constraint refunds_fee check (fee >= 0),
    seats          text,
    destination    text not null default 'ORIGINAL'
                   constraint refunds_destination check (destination in ('ORIGINAL', 'WALLET')),
    reason         text not null,
    attempts       integer not null default 0,
    next_at        integer not null,
    last_error     text,
    created_at     integer not null,
    updated_at     integer not null
) without rowid;

create index refunds_due on refunds (next_at) where status = 'DUE';
create index refunds_payment on refunds (payment_id);

create table wallets (
    user_id    blob not null primary key,
    balance    integer not null constraint wallets_balance check (balance >= 0),
    -- Number of the latest movement; the chain of the ledger has no gap.
    version    integer not null,
    created_at integer not null,
    updated_at integer not null
) without rowid;

-- Every movement has two rows: the wallet's side and the house's side. They sum to zero (I10).
create table wallet_ledger (
    user_id       blob not null,
    version       integer not null,
    account       text not null,
    id            blob not null,
    kind          text not null
                  constraint wallet_ledger_kind check (kind in ('CHARGE', 'DEBIT', 'REFUND', 'ADJUST')),
    amount        integer not null,
    balance_after integer,
    reference     blob,
    created_at    integer not null,
    primary key (user_id, version, account)
) without rowid;

create trigger wallet_ledger_is_final_update before update on wallet_ledger
begin
    select raise(abort, 'wallet_ledger is append-only');
end;

create trigger wallet_ledger_is_final_delete before delete on wallet_ledger
begin
    select raise(abort, 'wallet_ledger is append-only');
end;

create table tickets (
    id             blob not null primary key,
    reservation_id blob not null,
    user_id        blob not null,
    schedule_id    blob not null,
    seat_index     integer not null,
    seat_number    text not null,
    grade          text not null,
    status         text not null constraint tickets_status check (status in ('VALID', 'USED', 'VOID')),
    -- 128 random bits in the QR code.
    code           blob not null,
    used_at        integer,
    created_at     integer not null,
    updated_at     integer not null
) without rowid;

create index tickets_user on tickets (user_id, id);
create index tickets_reservation on tickets (reservation_id);
create unique index tickets_one_per_seat on tickets (schedule_id, seat_index) where status <> 'VOID';

-- The book of the built-in sandbox gateway: a stand-in for a company with a memory of its own.
create table sandbox_book (
    payment_id  blob not null primary key,
    payment_key text not null,
    choice      text not null,
    amount      integer not null,
    captured    integer not null default 0,
    refunded    integer not null default 0,
    voided      integer not null default 0,
    asked       integer not null default 0,
    created_at  integer not null,
    updated_at  integer not null
) without rowid;

-- ── common ──────────────────────────────────────────────────────────────────────────────────────

create table idempotency_keys (
    user_id     blob not null,
    endpoint    text not null,
    key         text not null,
    -- SHA-256 of the body: the same key with another body is refused.
    fingerprint blob not null,
    -- Null while the work is under way.
    status      integer,
    body        text,
    created_at  integer not null,
    primary key (user_id, endpoint, key)
) without rowid;

create index idempotency_keys_age on idempotency_keys (created_at);

create table outbox (
    id           blob not null primary key,
    aggregate_id blob not null,
    -- No gaps per aggregate: the consumer can tell what it missed (I14).
    seq          integer not null,
    topic        text not null,
    kind         text not null,
    -- Messages with one key keep their order.
    key          blob not null,
    payload      text not null,
    status       text not null
                 constraint outbox_status check (status in ('PENDING', 'PUBLISHED', 'DEAD')),
    attempts     integer not null default 0,
    next_at      integer not null,
    last_error   text,
    created_at   integer not null,
    published_at integer
) without rowid;

create unique index outbox_seq on outbox (aggregate_id, seq);
create index outbox_pending on outbox (id) where status = 'PENDING';
create index outbox_dead on outbox (id) where status = 'DEAD';
create index outbox_published on outbox (published_at) where status = 'PUBLISHED';

create table processed_messages (
    message_id   blob not null,
    consumer     text not null,
    processed_at integer not null,
    primary key (message_id, consumer)
) without rowid;

create index processed_messages_age on processed_messages (processed_at);

-- Where notifications go when no provider is configured; the control room shows it.
create table mailbox (
    message_id blob not null,
    channel    text not null,
    user_id    blob not null,
    subject    text not null,
    body       text not null,
    created_at integer not null,
    primary key (message_id, channel, user_id)
) without rowid;

create index mailbox_user on mailbox (user_id, created_at);

create table audit_log (
    seq        integer not null primary key,
    actor_id   blob not null,
    action     text not null,
    subject    text not null,
    details    text not null,
    created_at integer not null,
    -- SHA-256 over the previous row's hash and this row: the chain shows any change.
    hash       blob not null
) without rowid;
