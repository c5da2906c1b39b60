-- The organiser's legal pages in Markdown, and what each account agreed to.

create table legal_pages (
    kind       text not null
        constraint legal_pages_kind check (kind in ('TERMS', 'PRIVACY', 'BUSINESS')),
    version    integer not null,
    ko         text not null,
    en         text not null,
    created_by blob not null,
    created_at integer not null,
    constraint legal_pages_pkey primary key (kind, version)
) without rowid;

create table consents (
    user_id  blob not null,
    kind     text not null
        constraint consents_kind check (kind in ('TERMS', 'PRIVACY', 'AGE', 'MARKETING')),
    -- The version of the page, if there is one.
    version  integer,
    given_at integer not null,
    constraint consents_pkey primary key (user_id, kind, given_at)
) without rowid;

-- What a pending account agreed to, as JSON.
alter table sign_ups add column consents text;
