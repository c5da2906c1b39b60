-- The organiser's legal pages in Markdown, and what each account agreed to.

set local search_path to user_service;

create table legal_pages (
    kind       text not null
        constraint legal_pages_kind check (kind in ('TERMS', 'PRIVACY', 'BUSINESS')),
    version    bigint not null,
    ko         text not null,
    en         text not null,
    created_by uuid not null,
    created_at timestamptz not null,
    constraint legal_pages_pkey primary key (kind, version)
);

create table consents (
    user_id  uuid not null,
    kind     text not null
        constraint consents_kind check (kind in ('TERMS', 'PRIVACY', 'AGE', 'MARKETING')),
    -- The version of the page, if there is one.
    version  bigint,
    given_at timestamptz not null,
    constraint consents_pkey primary key (user_id, kind, given_at)
);

-- What a pending account agreed to, as JSON.
alter table sign_ups add column consents text;

set local search_path to common;
