-- Tickets that their buyers give back at the price paid, as soon as a fan on the standby list takes
-- one. Until then the ticket stays valid.
create table resales (
    id             blob not null primary key,
    ticket_id      blob not null,
    reservation_id blob not null,
    schedule_id    blob not null,
    seat_index     integer not null,
    grade          text not null,
    user_id        blob not null,
    -- What the buyer paid for the seat, gets back, and the taker pays.
    price          integer not null constraint resales_price check (price > 0),
    state          text not null constraint resales_state
                   check (state in ('LISTED', 'OFFERED', 'SOLD', 'WITHDRAWN', 'ENDED')),
    -- The entry of the standby list that it is or was last offered to.
    standby_id     blob,
    offered_to     blob,
    offered_until  integer,
    -- The taker's reservation and the buyer's refund.
    sold_as        blob,
    refund_id      blob,
    created_at     integer not null,
    updated_at     integer not null,
    constraint resales_offer check (state <> 'OFFERED' or offered_until is not null),
    constraint resales_sold check ((state = 'SOLD') = (sold_as is not null))
) without rowid;

create unique index resales_one_open on resales (ticket_id)
    where state in ('LISTED', 'OFFERED');
create index resales_open on resales (id) where state in ('LISTED', 'OFFERED');
create index resales_taker on resales (offered_to) where state = 'OFFERED';
create index resales_user on resales (user_id, id);
create index resales_reservation on resales (reservation_id);
