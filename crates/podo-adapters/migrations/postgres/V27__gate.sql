-- The entrances of a hall with the sections that they admit, as JSON.
alter table event_service.halls add column gates jsonb not null default '[]';

-- Every scan that changed or contested a ticket. Devices without a network send theirs later.
create table payment_service.check_ins (
    id          uuid not null primary key,
    ticket_id   uuid not null,
    schedule_id uuid not null,
    gate        text not null,
    kind        text not null
                constraint check_ins_kind check (kind in ('ADMITTED', 'UNDONE', 'DOUBLE')),
    actor_id    uuid not null,
    reason      text,
    scanned_at  timestamptz not null,
    created_at  timestamptz not null
);

create index check_ins_schedule on payment_service.check_ins (schedule_id, id);
create index check_ins_ticket on payment_service.check_ins (ticket_id, id);
create index tickets_schedule on payment_service.tickets (schedule_id, id);
