-- How long the fans of an event may take to pay to a virtual account.
alter table event_service.events add column deposit_deadline text not null default 'days:1';

-- Existing rows satisfy the wider constraint, so they aren't read again.
alter table payment_service.payments drop constraint payments_status;
alter table payment_service.payments add constraint payments_status
    check (status in ('READY', 'REQUESTED', 'UNKNOWN', 'AWAITING_DEPOSIT', 'CAPTURED',
                      'PARTIALLY_REFUNDED', 'REFUND_DUE', 'REFUNDED', 'FAILED', 'CANCELED')) not valid;
-- I9: one live attempt per reservation.
drop index payment_service.payments_one_live;
create unique index payments_one_live on payment_service.payments (reservation_id)
    where status in ('READY', 'REQUESTED', 'UNKNOWN', 'AWAITING_DEPOSIT');

-- The virtual accounts of payments.
create table payment_service.deposits (
    payment_id     uuid not null primary key references payment_service.payments (id),
    -- Until when the fan pays.
    due_at         timestamptz not null,
    -- Null until the gateway issued it.
    bank           text,
    account_number text,
    holder         text,
    issued_at      timestamptz,
    received       bigint not null default 0 constraint deposits_received check (received >= 0),
    -- When the fan canceled it.
    canceled_at    timestamptz,
    -- When the account is closed; null if no deposit is awaited.
    close_at       timestamptz,
    -- When the gateway is asked again: while a deposit is awaited, and until `watch_until`.
    ask_at         timestamptz,
    watch_until    timestamptz not null,
    -- When the fan is reminded of the deadline.
    remind_at      timestamptz,
    -- When the fan is reminded that a refund needs a bank account.
    account_ask_at timestamptz,
    -- Messages about this payment so far.
    n_messages     bigint not null default 0,
    created_at     timestamptz not null,
    updated_at     timestamptz not null
);

create index deposits_to_close on payment_service.deposits (close_at) where close_at is not null;
create index deposits_to_ask on payment_service.deposits (ask_at) where ask_at is not null;
create index deposits_to_remind on payment_service.deposits (remind_at)
    where remind_at is not null;
create index deposits_without_account on payment_service.deposits (account_ask_at)
    where account_ask_at is not null;

-- Where refunds of deposits go; the id is the payment's.
create table payment_service.refund_accounts (
    id         uuid not null primary key references payment_service.payments (id),
    user_id    uuid not null,
    -- Encrypted.
    account    bytea not null,
    created_at timestamptz not null,
    updated_at timestamptz not null
);

create index refund_accounts_age on payment_service.refund_accounts (updated_at);

-- The sandbox issues accounts too.
alter table payment_service.sandbox_book add column awaits boolean not null default false;
