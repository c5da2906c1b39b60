-- When the owner showed that the address is theirs. Of accounts made before nobody knows it.
alter table user_service.users add column email_proven_at timestamptz;

-- A ticket that its owner offers to an address (its keyed hash), and until when.
alter table payment_service.tickets
    add column offered_to bytea,
    add column offered_until timestamptz;

create index tickets_offered on payment_service.tickets (offered_to) where offered_to is not null;

-- A code that was mailed to the address of an account that exists: whose.
alter table user_service.sign_ups add column proves uuid;
