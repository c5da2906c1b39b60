-- The organiser's server that decides who is a member, instead of a list.
create table phase_webhooks (
    -- The phase.
    id              blob not null primary key,
    url             text not null,
    -- Encrypted. Questions are also signed with the previous one until the next rotation.
    secret          blob not null,
    previous_secret blob,
    created_at      integer not null,
    updated_at      integer not null
) without rowid;
