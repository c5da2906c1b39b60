-- The figures of a sale, every ten seconds while something happens in it. `at` is rounded down, so
-- that two nodes write the same row.
create table sale_samples (
    schedule_id blob not null,
    at          integer not null,
    -- The longest step, in seconds, on which the moment lies: 10, 60, 600 or 3600.
    step        integer not null,
    waiting     integer not null,
    inside      integer not null,
    available   integer not null,
    held        integer not null,
    sold        integer not null,
    revenue     integer not null,
    primary key (schedule_id, at)
) without rowid;
