-- The beginnings of addresses are searched like those of names: by keyed hashes in name_prefixes.
set local search_path to user_service;

alter table users add column email_indexed boolean not null default false;
create index users_emails_due on users (id)
    where name_indexed and not email_indexed and status <> 'DELETED';

set local search_path to common;
