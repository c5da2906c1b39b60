-- Who leads a job: taken by comparing its end with now, and fenced, because a node that was paused
-- still believes in its lease.
create table common.leases (
    job        text not null primary key,
    holder     uuid not null,
    -- Grows whenever the lead changes hands or was let slip.
    fence      bigint not null constraint leases_fence check (fence > 0),
    held_until timestamptz not null
);
