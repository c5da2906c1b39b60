-- The organiser's server that decides who is a member, instead of a list.
create table event_service.phase_webhooks (
    -- The phase.
    id              uuid not null primary key,
    url             text not null,
    -- Encrypted. Questions are also signed with the previous one until the next rotation.
    secret          bytea not null,
    previous_secret bytea,
    created_at      timestamptz not null,
    updated_at      timestamptz not null
);
