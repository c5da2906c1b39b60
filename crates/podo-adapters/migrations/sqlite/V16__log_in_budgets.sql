-- Log-ins are counted apart for networks and devices that logged in to the account before.
alter table login_history add column network text;
alter table login_history add column budget text;

create index login_history_networks on login_history (email_hash, network, id) where success;
