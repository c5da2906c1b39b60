set local search_path to common;

-- What workers or the relay gave up: whole, until somebody replays or drops it.
create table dead_letters (
    id         uuid not null primary key,
    message_id uuid not null,
    -- Who gave it up; 'relay' when it could not be published.
    consumer   text not null,
    topic      text not null,
    kind       text not null,
    key        text not null,
    -- As it was on the bus, readable or not.
    body       text not null,
    error      text not null,
    attempts   bigint not null,
    status     text not null constraint dead_letters_status
               check (status in ('OPEN', 'REPLAY', 'REPLAYED', 'DROPPED')),
    created_at timestamptz not null,
    updated_at timestamptz not null
);

create unique index dead_letters_message on dead_letters (message_id, consumer);
create index dead_letters_open on dead_letters (status, id) where status in ('OPEN', 'REPLAY');

-- When each job last did something, and whose turn it was at a time of day.
create table job_runs (
    job         text not null primary key,
    node        uuid,
    started_at  timestamptz,
    finished_at timestamptz,
    done        bigint not null default 0,
    failed      bigint not null default 0,
    error       text,
    due_at      timestamptz
);

-- Letters that leave the house: at most one per message, channel and recipient (I15).
create table notifications (
    message_id uuid not null,
    channel    text not null
               constraint notifications_channel check (channel in ('EMAIL', 'SMS', 'PUSH')),
    recipient  uuid not null,
    user_id    uuid not null,
    subject    text not null,
    body       text not null,
    status     text not null constraint notifications_status
               check (status in ('PENDING', 'SENDING', 'SENT', 'FAILED', 'UNKNOWN')),
    attempts   bigint not null default 0,
    next_at    timestamptz not null,
    last_error text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (message_id, channel, recipient)
);

create index notifications_due on notifications (next_at) where status in ('PENDING', 'SENDING');
create index notifications_user on notifications (user_id, message_id);

set local search_path to reservation_service;

-- What the booking worker knows of a reservation: the last message counts, whatever order they
-- come in.
create table booked (
    reservation_id uuid not null primary key,
    schedule_id    uuid not null,
    seq            bigint not null,
    -- [{grade, seats, amount}]
    shares         text not null,
    updated_at     timestamptz not null
);

create table sales_by_grade (
    schedule_id uuid not null,
    grade       text not null,
    sold        bigint not null,
    revenue     bigint not null,
    updated_at  timestamptz not null,
    primary key (schedule_id, grade)
);

set local search_path to user_service;

-- What fans want to get.
create table notification_settings (
    user_id    uuid not null primary key,
    language   text not null constraint notification_settings_language check (language in ('ko', 'en')),
    email      boolean not null,
    sms        boolean not null,
    push       boolean not null,
    updated_at timestamptz not null
);

create table devices (
    id         uuid not null primary key,
    user_id    uuid not null,
    -- Sealed; the hash is keyed.
    token      bytea not null,
    token_hash bytea not null,
    created_at timestamptz not null
);

create unique index devices_token on devices (token_hash);
create index devices_user on devices (user_id);

set local search_path to event_service;

-- Where organisers want to be told.
create table webhook_endpoints (
    id              uuid not null primary key,
    url             text not null,
    -- Sealed.
    secret          bytea not null,
    previous_secret bytea,
    -- Kinds of messages with commas between them.
    kinds           text not null,
    status          text not null constraint webhook_endpoints_status
                    check (status in ('ACTIVE', 'DISABLED')),
    created_at      timestamptz not null,
    updated_at      timestamptz not null
);

create table webhook_deliveries (
    id          uuid not null primary key,
    endpoint_id uuid not null references webhook_endpoints (id),
    message_id  uuid not null,
    kind        text not null,
    body        text not null,
    status      text not null constraint webhook_deliveries_status
                check (status in ('PENDING', 'DELIVERED', 'FAILED')),
    attempts    bigint not null default 0,
    next_at     timestamptz not null,
    last_status bigint,
    last_error  text,
    created_at  timestamptz not null,
    updated_at  timestamptz not null
);

create unique index webhook_deliveries_once on webhook_deliveries (endpoint_id, message_id);
create index webhook_deliveries_due on webhook_deliveries (next_at) where status = 'PENDING';
create index webhook_deliveries_endpoint on webhook_deliveries (endpoint_id, id);
create index webhook_deliveries_age on webhook_deliveries (updated_at) where status <> 'PENDING';

set local search_path to common;
