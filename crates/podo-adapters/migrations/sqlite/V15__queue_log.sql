-- What happened to fans in waiting rooms, for support: written in batches, kept for a while. The ids
-- begin with the time of the event.
create table queue_log (
    id           blob not null primary key,
    schedule_id  blob not null,
    user_id      blob not null,
    kind         text not null constraint queue_log_kind check
                 (kind in ('JOINED_LOBBY', 'ENTERED', 'POSITION_SEEN', 'LEFT')),
    place_number integer,
    position     integer,
    happened_at  integer not null
) without rowid;

create index queue_log_user on queue_log (user_id, id);
