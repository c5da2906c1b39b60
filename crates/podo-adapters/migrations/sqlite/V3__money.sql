-- Refunds that wait for a second organiser, canceled dates, webhooks, and money on its way into a
-- wallet.

-- Refunds above the limit wait here for a second organiser.
create table refund_approvals (
    payment_id blob not null,
    seats      text not null,
    actor_id   blob not null,
    created_at integer not null,
    primary key (payment_id, seats)
) without rowid;

-- A canceled date: everybody's money goes back, a few reservations a round.
create table refund_runs (
    schedule_id    blob not null primary key,
    status         text not null constraint refund_runs_status check (status in ('RUNNING', 'DONE')),
    n_reservations integer not null,
    n_refunded     integer not null default 0,
    amount         integer not null default 0,
    created_at     integer not null,
    updated_at     integer not null
) without rowid;

create index refund_runs_running on refund_runs (created_at) where status = 'RUNNING';

-- What gateways told us: kept before anything is done about it, so that a repeat does nothing.
create table webhook_events (
    gateway    text not null,
    id         text not null,
    kind       text not null,
    payment_id blob,
    status     text not null
               constraint webhook_events_status check (status in ('RECEIVED', 'DONE', 'IGNORED')),
    next_at    integer not null,
    created_at integer not null,
    updated_at integer not null,
    primary key (gateway, id)
) without rowid;

create index webhook_events_open on webhook_events (next_at) where status = 'RECEIVED';

-- Money on its way into a wallet through a gateway.
create table wallet_charges (
    id             blob not null primary key,
    user_id        blob not null,
    gateway        text not null,
    status         text not null constraint wallet_charges_status check
                   (status in ('READY', 'REQUESTED', 'UNKNOWN', 'CAPTURED', 'FAILED')),
    amount         integer not null constraint wallet_charges_amount check (amount between 1 and 100000000),
    captured       integer not null default 0,
    gateway_ref    text,
    gateway_answer text,
    failure_reason text,
    confirm_key    text,
    requested_at   integer,
    asked_at       integer,
    created_at     integer not null,
    updated_at     integer not null
) without rowid;

create index wallet_charges_user on wallet_charges (user_id, id);
create index wallet_charges_open on wallet_charges (asked_at) where status in ('REQUESTED', 'UNKNOWN');
