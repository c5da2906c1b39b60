-- How long the fans of an event may take to pay to a virtual account.
alter table events add column deposit_deadline text not null default 'days:1';

-- SQLite can't change a constraint: the column is replaced by one that knows another state.
drop index payments_open;
drop index payments_one_live;
drop index payments_one_captured;
drop index payments_never_made;
alter table payments add column state text not null default 'READY'
    constraint payments_status check (state in ('READY', 'REQUESTED', 'UNKNOWN', 'AWAITING_DEPOSIT',
                                                'CAPTURED', 'PARTIALLY_REFUNDED', 'REFUND_DUE',
                                                'REFUNDED', 'FAILED', 'CANCELED'));
update payments set state = status;
alter table payments drop column status;
alter table payments rename column state to status;
create index payments_open on payments (asked_at) where status in ('REQUESTED', 'UNKNOWN');
-- I9: one live attempt and one captured attempt per reservation.
create unique index payments_one_live on payments (reservation_id)
    where status in ('READY', 'REQUESTED', 'UNKNOWN', 'AWAITING_DEPOSIT');
create unique index payments_one_captured on payments (reservation_id)
    where status in ('CAPTURED', 'PARTIALLY_REFUNDED');
create index payments_never_made on payments (asked_at)
    where status = 'FAILED' and failure_reason = 'NOT_FOUND';

-- The virtual accounts of payments.
create table deposits (
    payment_id     blob not null primary key references payments (id),
    -- Until when the fan pays.
    due_at         integer not null,
    -- Null until the gateway issued it.
    bank           text,
    account_number text,
    holder         text,
    issued_at      integer,
    received       integer not null default 0 constraint deposits_received check (received >= 0),
    -- When the fan canceled it.
    canceled_at    integer,
    -- When the account is closed; null if no deposit is awaited.
    close_at       integer,
    -- When the gateway is asked again: while a deposit is awaited, and until `watch_until`.
    ask_at         integer,
    watch_until    integer not null,
    -- When the fan is reminded of the deadline.
    remind_at      integer,
    -- When the fan is reminded that a refund needs a bank account.
    account_ask_at integer,
    -- Messages about this payment so far.
    n_messages     integer not null default 0,
    created_at     integer not null,
    updated_at     integer not null
) without rowid;

create index deposits_to_close on deposits (close_at) where close_at is not null;
create index deposits_to_ask on deposits (ask_at) where ask_at is not null;
create index deposits_to_remind on deposits (remind_at) where remind_at is not null;
create index deposits_without_account on deposits (account_ask_at) where account_ask_at is not null;

-- Where refunds of deposits go; the id is the payment's.
create table refund_accounts (
    id         blob not null primary key references payments (id),
    user_id    blob not null,
    -- Encrypted.
    account    blob not null,
    created_at integer not null,
    updated_at integer not null
) without rowid;

create index refund_accounts_age on refund_accounts (updated_at);

-- The sandbox issues accounts too.
alter table sandbox_book add column awaits integer not null default 0;
