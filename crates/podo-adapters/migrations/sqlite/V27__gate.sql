-- The entrances of a hall with the sections that they admit, as JSON.
alter table halls add column gates text not null default '[]';

-- Every scan that changed or contested a ticket. Devices without a network send theirs later.
create table check_ins (
    id          blob not null primary key,
    ticket_id   blob not null,
    schedule_id blob not null,
    gate        text not null,
    kind        text not null
                constraint check_ins_kind check (kind in ('ADMITTED', 'UNDONE', 'DOUBLE')),
    actor_id    blob not null,
    reason      text,
    scanned_at  integer not null,
    created_at  integer not null
) without rowid;

create index check_ins_schedule on check_ins (schedule_id, id);
create index check_ins_ticket on check_ins (ticket_id, id);
create index tickets_schedule on tickets (schedule_id, id);
