-- Who made an order: a fan, or the box office.
alter table reservation_service.reservations add column channel text not null default 'FAN'
    constraint reservations_channel check (channel in ('FAN', 'BOX_OFFICE', 'COMPLIMENTARY'));

-- The orders that an organiser issued. The buyer of the reservation is the organiser's account.
create table reservation_service.issued_orders (
    -- The reservation.
    id          uuid not null primary key,
    schedule_id uuid not null,
    actor_id    uuid not null,
    tender      text constraint issued_orders_tender check
                (tender in ('CASH', 'TERMINAL', 'TRANSFER')),
    -- Encrypted.
    name        bytea not null,
    phone       bytea,
    note        bytea,
    created_at  timestamptz not null
);

create index issued_orders_date on reservation_service.issued_orders (schedule_id, id);

-- Existing rows satisfy the wider constraint, so they aren't read again.
alter table payment_service.payments drop constraint payments_method;
alter table payment_service.payments add constraint payments_method
    check (method in ('WALLET', 'CARD', 'BOX_OFFICE')) not valid;
