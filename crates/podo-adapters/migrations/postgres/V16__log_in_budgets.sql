-- Log-ins are counted apart for networks and devices that logged in to the account before.
alter table user_service.login_history
    add column network text,
    add column budget text;

create index login_history_networks on user_service.login_history (email_hash, network, id)
    where success;
