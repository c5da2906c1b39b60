-- Who made an order: a fan, or the box office.
alter table reservations add column channel text not null default 'FAN'
    constraint reservations_channel check (channel in ('FAN', 'BOX_OFFICE', 'COMPLIMENTARY'));

-- The orders that an organiser issued. The buyer of the reservation is the organiser's account.
create table issued_orders (
    -- The reservation.
    id          blob not null primary key,
    schedule_id blob not null,
    actor_id    blob not null,
    tender      text constraint issued_orders_tender check
                (tender in ('CASH', 'TERMINAL', 'TRANSFER')),
    -- Encrypted.
    name        blob not null,
    phone       blob,
    note        blob,
    created_at  integer not null
) without rowid;

create index issued_orders_date on issued_orders (schedule_id, id);

-- SQLite can't change a constraint: the column is replaced by one that also has the desk.
alter table payments add column paid_by text not null default 'CARD'
    constraint payments_method check (paid_by in ('WALLET', 'CARD', 'BOX_OFFICE'));
update payments set paid_by = method;
alter table payments drop column method;
alter table payments rename column paid_by to method;
