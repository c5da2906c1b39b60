-- Ticket types and fees of a date as JSON; null for a date with neither.
alter table event_schedules add column price_options text;

-- Promotion codes of a date. Orders in all that have one are counted here.
create table promotion_codes (
    id              blob not null primary key,
    schedule_id     blob not null
                    constraint promotion_codes_date references event_schedules (id),
    code            text not null,
    discount        text not null,
    per             text not null
                    constraint promotion_codes_per check (per in ('ORDER', 'TICKET')),
    grades          text,
    amount_min      integer not null,
    starts_at       integer,
    ends_at         integer,
    uses_max        integer not null,
    uses_per_person integer,
    n_used          integer not null default 0,
    created_at      integer not null,
    updated_at      integer not null,
    constraint promotion_codes_uses check (n_used between 0 and uses_max)
) without rowid;

create unique index promotion_codes_code on promotion_codes (schedule_id, code);

-- An order may cost nothing. SQLite cannot change a constraint: the column is replaced by one with
-- the new bound.
alter table reservations add column amount_due integer not null default 0
    constraint reservations_amount check (amount_due between 0 and 100000000);
update reservations set amount_due = amount;
alter table reservations drop column amount;
alter table reservations rename column amount_due to amount;

-- The part of the amount that belongs to no seat, the fees as they were at the hold, and the
-- promotion code with its text.
alter table reservations add column order_fee integer not null default 0
    constraint reservations_order_fee check (order_fee between 0 and amount);
alter table reservations add column fees text;
alter table reservations add column promotion_id blob;
alter table reservations add column promotion_code text;

create index reservations_promotion on reservations (promotion_id, user_id)
    where promotion_id is not null;

-- What was paid for the ticket. Seats without options have no list price: it is the same.
alter table reservation_seats add column price_paid integer not null default 0
    constraint reservation_seats_price check (price_paid >= 0);
update reservation_seats set price_paid = price;
alter table reservation_seats drop column price;
alter table reservation_seats rename column price_paid to price;
alter table reservation_seats add column list_price integer;
alter table reservation_seats add column type_off integer not null default 0;
alter table reservation_seats add column code_off integer not null default 0
    constraint reservation_seats_line check
    (type_off >= 0 and code_off >= 0 and coalesce(list_price, price) = price + type_off + code_off);
alter table reservation_seats add column fee integer not null default 0
    constraint reservation_seats_fee check (fee >= 0);
-- The type as it was, as JSON.
alter table reservation_seats add column ticket_type text;

-- Seats whose price differs from the list, for the revenue of a date.
create index reservation_seats_discounted on reservation_seats (schedule_id)
    where active and list_price is not null;

alter table payments add column amount_due integer not null default 0
    constraint payments_amount check (amount_due between 0 and 100000000);
update payments set amount_due = amount;
alter table payments drop column amount;
alter table payments rename column amount_due to amount;

-- What the gate asks for, as JSON.
alter table tickets add column ticket_type text;
