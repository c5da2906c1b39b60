-- Ticket types and fees of a date; null for a date with neither.
alter table event_service.event_schedules add column price_options jsonb;

-- Promotion codes of a date. Orders in all that have one are counted here.
create table event_service.promotion_codes (
    id              uuid not null primary key,
    schedule_id     uuid not null
                    constraint promotion_codes_date references event_service.event_schedules (id),
    code            text not null,
    discount        jsonb not null,
    per             text not null
                    constraint promotion_codes_per check (per in ('ORDER', 'TICKET')),
    grades          jsonb,
    amount_min      bigint not null,
    starts_at       timestamptz,
    ends_at         timestamptz,
    uses_max        bigint not null,
    uses_per_person bigint,
    n_used          bigint not null default 0,
    created_at      timestamptz not null,
    updated_at      timestamptz not null,
    constraint promotion_codes_uses check (n_used between 0 and uses_max)
);

create unique index promotion_codes_code on event_service.promotion_codes (schedule_id, code);

-- An order may cost nothing. Existing rows satisfy the wider bounds, so they aren't read again.
alter table reservation_service.reservations drop constraint reservations_amount;
alter table reservation_service.reservations add constraint reservations_amount
    check (amount between 0 and 100000000) not valid;
alter table reservation_service.reservation_seats drop constraint reservation_seats_price;
alter table reservation_service.reservation_seats add constraint reservation_seats_price
    check (price >= 0) not valid;
alter table payment_service.payments drop constraint payments_amount;
alter table payment_service.payments add constraint payments_amount
    check (amount between 0 and 100000000) not valid;

-- The part of the amount that belongs to no seat, the fees as they were at the hold, and the
-- promotion code with its text.
alter table reservation_service.reservations
    add column order_fee bigint not null default 0,
    add column fees jsonb,
    add column promotion_id uuid,
    add column promotion_code text,
    add constraint reservations_order_fee check (order_fee between 0 and amount) not valid;

create index reservations_promotion on reservation_service.reservations (promotion_id, user_id)
    where promotion_id is not null;

-- What was paid for the ticket is its price. Seats without options have no list price: it is the
-- same.
alter table reservation_service.reservation_seats
    add column list_price bigint,
    add column type_off bigint not null default 0,
    add column code_off bigint not null default 0,
    add column fee bigint not null default 0,
    -- The type as it was.
    add column ticket_type jsonb,
    add constraint reservation_seats_line check
    (type_off >= 0 and code_off >= 0
     and coalesce(list_price, price) = price + type_off + code_off) not valid,
    add constraint reservation_seats_fee check (fee >= 0) not valid;

-- Seats whose price differs from the list, for the revenue of a date.
create index reservation_seats_discounted on reservation_service.reservation_seats (schedule_id)
    where active and list_price is not null;

-- What the gate asks for.
alter table payment_service.tickets add column ticket_type jsonb;
