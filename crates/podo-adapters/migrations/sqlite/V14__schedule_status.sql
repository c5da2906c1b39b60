-- The job that keeps the sale status of dates true looks up those whose sale opens or ends next.
create index event_schedules_opening on event_schedules (sale_starts_at)
    where status = 'UPCOMING';
create index event_schedules_closing on event_schedules (sale_ends_at)
    where status = 'ONGOING';
