-- Since when a broken promise stops the sale of a date, and which; until an organiser lets it go on.
alter table event_schedules add column stopped_at integer;
alter table event_schedules add column stopped_why text;

-- What the hourly check of every promise found.
create table verifications (
    started_at  integer not null primary key,
    finished_at integer not null,
    -- How many promises do not hold.
    n_broken    integer not null,
    -- JSON, as `podo verify --json` prints it.
    findings    text not null
) without rowid;

-- Checking every reservation's money must not look at every refund for each.
create index refunds_reservation on refunds (reservation_id);
