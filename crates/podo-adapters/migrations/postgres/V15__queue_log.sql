-- What happened to fans in waiting rooms, for support: written in batches, kept for a while. The ids
-- begin with the time of the event.
create table reservation_service.queue_log (
    id           uuid not null primary key,
    schedule_id  uuid not null,
    user_id      uuid not null,
    kind         text not null constraint queue_log_kind check
                 (kind in ('JOINED_LOBBY', 'ENTERED', 'POSITION_SEEN', 'LEFT')),
    place_number bigint,
    position     bigint,
    happened_at  timestamptz not null
);

create index queue_log_user on reservation_service.queue_log (user_id, id);
