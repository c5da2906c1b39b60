-- The figures of a sale, every ten seconds while something happens in it. `at` is rounded down, so
-- that two nodes write the same row.
create table reservation_service.sale_samples (
    schedule_id uuid not null,
    at          timestamptz not null,
    -- The longest step, in seconds, on which the moment lies: 10, 60, 600 or 3600.
    step        bigint not null,
    waiting     bigint not null,
    inside      bigint not null,
    available   bigint not null,
    held        bigint not null,
    sold        bigint not null,
    revenue     bigint not null,
    primary key (schedule_id, at)
);
