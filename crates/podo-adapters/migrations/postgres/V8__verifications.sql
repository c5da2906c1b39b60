set local search_path to event_service;

-- Since when a broken promise stops the sale of a date, and which; until an organiser lets it go on.
alter table event_schedules add column stopped_at timestamptz;
alter table event_schedules add column stopped_why text;

set local search_path to common;

-- What the hourly check of every promise found.
create table verifications (
    started_at  timestamptz not null primary key,
    finished_at timestamptz not null,
    -- How many promises do not hold.
    n_broken    bigint not null,
    -- JSON, as `podo verify --json` prints it.
    findings    text not null
);

set local search_path to payment_service;

-- Checking every reservation's money must not look at every refund for each.
create index refunds_reservation on refunds (reservation_id);

set local search_path to common;
