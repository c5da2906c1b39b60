-- When the owner showed that the address is theirs. Of accounts made before nobody knows it.
alter table users add column email_proven_at integer;

-- A ticket that its owner offers to an address (its keyed hash), and until when.
alter table tickets add column offered_to blob;
alter table tickets add column offered_until integer;

create index tickets_offered on tickets (offered_to) where offered_to is not null;

-- A code that was mailed to the address of an account that exists: whose.
alter table sign_ups add column proves blob;
