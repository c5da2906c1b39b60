-- Refunds that wait for a second organiser, canceled dates, webhooks, and money on its way into a
-- wallet.
set local search_path to payment_service;

-- Refunds above the limit wait here for a second organiser.
create table refund_approvals (
    payment_id uuid not null,
    seats      text not null,
    actor_id   uuid not null,
    created_at timestamptz not null,
    primary key (payment_id, seats)
);

-- A canceled date: everybody's money goes back, a few reservations a round.
create table refund_runs (
    schedule_id    uuid not null primary key,
    status         text not null constraint refund_runs_status check (status in ('RUNNING', 'DONE')),
    n_reservations bigint not null,
    n_refunded     bigint not null default 0,
    amount         bigint not null default 0,
    created_at     timestamptz not null,
    updated_at     timestamptz not null
);

create index refund_runs_running on refund_runs (created_at) where status = 'RUNNING';

-- What gateways told us: kept before anything is done about it, so that a repeat does nothing.
create table webhook_events (
    gateway    text not null,
    id         text not null,
    kind       text not null,
    payment_id uuid,
    status     text not null
               constraint webhook_events_status check (status in ('RECEIVED', 'DONE', 'IGNORED')),
    next_at    timestamptz not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (gateway, id)
);

create index webhook_events_open on webhook_events (next_at) where status = 'RECEIVED';

-- Money on its way into a wallet through a gateway.
create table wallet_charges (
    id             uuid not null primary key,
    user_id        uuid not null,
    gateway        text not null,
    status         text not null constraint wallet_charges_status check
                   (status in ('READY', 'REQUESTED', 'UNKNOWN', 'CAPTURED', 'FAILED')),
    amount         bigint not null constraint wallet_charges_amount check (amount between 1 and 100000000),
    captured       bigint not null default 0,
    gateway_ref    text,
    gateway_answer jsonb,
    failure_reason text,
    confirm_key    text,
    requested_at   timestamptz,
    asked_at       timestamptz,
    created_at     timestamptz not null,
    updated_at     timestamptz not null
);

create index wallet_charges_user on wallet_charges (user_id, id);
create index wallet_charges_open on wallet_charges (asked_at) where status in ('REQUESTED', 'UNKNOWN');

set local search_path to common;
