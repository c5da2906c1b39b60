-- Tickets that their buyers give back at the price paid, as soon as a fan on the standby list takes
-- one. Until then the ticket stays valid.
create table payment_service.resales (
    id             uuid not null constraint resales_pkey primary key,
    ticket_id      uuid not null,
    reservation_id uuid not null,
    schedule_id    uuid not null,
    seat_index     bigint not null,
    grade          text not null,
    user_id        uuid not null,
    -- What the buyer paid for the seat, gets back, and the taker pays.
    price          bigint not null constraint resales_price check (price > 0),
    state          text not null constraint resales_state
                   check (state in ('LISTED', 'OFFERED', 'SOLD', 'WITHDRAWN', 'ENDED')),
    -- The entry of the standby list that it is or was last offered to.
    standby_id     uuid,
    offered_to     uuid,
    offered_until  timestamptz,
    -- The taker's reservation and the buyer's refund.
    sold_as        uuid,
    refund_id      uuid,
    created_at     timestamptz not null,
    updated_at     timestamptz not null,
    constraint resales_offer check (state <> 'OFFERED' or offered_until is not null),
    constraint resales_sold check ((state = 'SOLD') = (sold_as is not null))
);

create unique index resales_one_open on payment_service.resales (ticket_id)
    where state in ('LISTED', 'OFFERED');
create index resales_open on payment_service.resales (id) where state in ('LISTED', 'OFFERED');
create index resales_taker on payment_service.resales (offered_to) where state = 'OFFERED';
create index resales_user on payment_service.resales (user_id, id);
create index resales_reservation on payment_service.resales (reservation_id);
