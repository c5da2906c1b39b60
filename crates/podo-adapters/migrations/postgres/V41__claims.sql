-- Links with which the owner of an address claims a ticket that is offered to it. The address is
-- encrypted, and of the link's token there is only a hash. The row ends with the offer.
create table payment_service.ticket_claims (
    id         uuid not null constraint ticket_claims_pkey primary key,
    ticket_id  uuid not null constraint ticket_claims_ticket unique,
    email      bytea not null,
    token_hash bytea not null,
    language   text not null constraint ticket_claims_language check (language in ('ko', 'en')),
    expires_at timestamptz not null,
    created_at timestamptz not null
);

create index ticket_claims_end on payment_service.ticket_claims (expires_at);
