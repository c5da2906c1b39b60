-- The beginnings of addresses are searched like those of names: by keyed hashes in name_prefixes.
alter table users add column email_indexed integer not null default 0;
create index users_emails_due on users (id)
    where name_indexed and not email_indexed and status <> 'DELETED';
