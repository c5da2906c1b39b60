-- What a key moved money for: a payment, a charge of a wallet, or an entry of its ledger. Such a key
-- lives as long as that; keys without one are deleted after three days.
alter table idempotency_keys add column subject_id blob;

drop index idempotency_keys_age;
create index idempotency_keys_age on idempotency_keys (created_at) where subject_id is null;
create index idempotency_keys_money on idempotency_keys (created_at) where subject_id is not null;
