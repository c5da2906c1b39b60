-- What workers or the relay gave up: whole, until somebody replays or drops it.
create table dead_letters (
    id         blob not null primary key,
    message_id blob not null,
    -- Who gave it up; 'relay' when it could not be published.
    consumer   text not null,
    topic      text not null,
    kind       text not null,
    key        text not null,
    -- As it was on the bus, readable or not.
    body       text not null,
    error      text not null,
    attempts   integer not null,
    status     text not null constraint dead_letters_status
               check (status in ('OPEN', 'REPLAY', 'REPLAYED', 'DROPPED')),
    created_at integer not null,
    updated_at integer not null
) without rowid;

create unique index dead_letters_message on dead_letters (message_id, consumer);
create index dead_letters_open on dead_letters (status, id) where status in ('OPEN', 'REPLAY');

-- When each job last did something, and whose turn it was at a time of day.
create table job_runs (
    job         text not null primary key,
    node        blob,
    started_at  integer,
    finished_at integer,
    done        integer not null default 0,
    failed      integer not null default 0,
    error       text,
    due_at      integer
) without rowid;

-- What the booking worker knows of a reservation: the last message counts, whatever order they
-- come in.
create table booked (
    reservation_id blob not null primary key,
    schedule_id    blob not null,
    seq            integer not null,
    -- [{grade, seats, amount}]
    shares         text not null,
    updated_at     integer not null
) without rowid;

create table sales_by_grade (
    schedule_id blob not null,
    grade       text not null,
    sold        integer not null,
    revenue     integer not null,
    updated_at  integer not null,
    primary key (schedule_id, grade)
) without rowid;

-- What fans want to get.
create table notification_settings (
    user_id    blob not null primary key,
    language   text not null constraint notification_settings_language check (language in ('ko', 'en')),
    email      integer not null,
    sms        integer not null,
    push       integer not null,
    updated_at integer not null
) without rowid;

create table devices (
    id         blob not null primary key,
    user_id    blob not null,
    -- Sealed; the hash is keyed.
    token      blob not null,
    token_hash blob not null,
    created_at integer not null
) without rowid;

create unique index devices_token on devices (token_hash);
create index devices_user on devices (user_id);

-- Letters that leave the house: at most one per message, channel and recipient (I15).
create table notifications (
    message_id blob not null,
    channel    text not null
               constraint notifications_channel check (channel in ('EMAIL', 'SMS', 'PUSH')),
    recipient  blob not null,
    user_id    blob not null,
    subject    text not null,
    body       text not null,
    status     text not null constraint notifications_status
               check (status in ('PENDING', 'SENDING', 'SENT', 'FAILED', 'UNKNOWN')),
    attempts   integer not null default 0,
    next_at    integer not null,
    last_error text,
    created_at integer not null,
    updated_at integer not null,
    primary key (message_id, channel, recipient)
) without rowid;

create index notifications_due on notifications (next_at) where status in ('PENDING', 'SENDING');
create index notifications_user on notifications (user_id, message_id);

-- Where organisers want to be told.
create table webhook_endpoints (
    id              blob not null primary key,
    url             text not null,
    -- Sealed.
    secret          blob not null,
    previous_secret blob,
    -- Kinds of messages with commas between them.
    kinds           text not null,
    status          text not null constraint webhook_endpoints_status
                    check (status in ('ACTIVE', 'DISABLED')),
    created_at      integer not null,
    updated_at      integer not null
) without rowid;

create table webhook_deliveries (
    id          blob not null primary key,
    endpoint_id blob not null references webhook_endpoints (id),
    message_id  blob not null,
    kind        text not null,
    body        text not null,
    status      text not null constraint webhook_deliveries_status
                check (status in ('PENDING', 'DELIVERED', 'FAILED')),
    attempts    integer not null default 0,
    next_at     integer not null,
    last_status integer,
    last_error  text,
    created_at  integer not null,
    updated_at  integer not null
) without rowid;

create unique index webhook_deliveries_once on webhook_deliveries (endpoint_id, message_id);
create index webhook_deliveries_due on webhook_deliveries (next_at) where status = 'PENDING';
create index webhook_deliveries_endpoint on webhook_deliveries (endpoint_id, id);
create index webhook_deliveries_age on webhook_deliveries (updated_at) where status <> 'PENDING';
