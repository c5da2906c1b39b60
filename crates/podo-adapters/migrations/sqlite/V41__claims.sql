-- Links with which the owner of an address claims a ticket that is offered to it. The address is
-- encrypted, and of the link's token there is only a hash. The row ends with the offer.
create table ticket_claims (
    id         blob not null primary key,
    ticket_id  blob not null constraint ticket_claims_ticket unique,
    email      blob not null,
    token_hash blob not null,
    language   text not null constraint ticket_claims_language check (language in ('ko', 'en')),
    expires_at integer not null,
    created_at integer not null
) without rowid;

create index ticket_claims_end on ticket_claims (expires_at);
