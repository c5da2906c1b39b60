-- The roles of organisers beyond owner and viewer, invitations, and API keys.

set local search_path to user_service;

-- An organiser without a row is an owner, or a viewer if `users.reads_only` is set. A limited or
-- custom role is always stored with `reads_only`, so the previous version gives it no more than
-- read access.
create table team_members (
    user_id     uuid not null constraint team_members_pkey primary key,
    role        text not null
        constraint team_members_role check (role in ('MANAGER', 'FINANCE', 'BOX_OFFICE', 'SUPPORT', 'GATE', 'VIEWER', 'CUSTOM')),
    -- Names separated by spaces; only for a custom role.
    permissions text,
    -- Ids separated by spaces; absent for all events.
    events      text,
    updated_at  timestamptz not null,
    constraint team_members_permissions check ((role = 'CUSTOM') = (permissions is not null))
);

-- The team page and the count of owners read only organisers.
create index users_organisers on users (id) where role = 'ADMIN';

-- What a pending row is for: absent for a sign-up or the proof of an address.
alter table sign_ups add column purpose text
    constraint sign_ups_purpose check (purpose in ('INVITE', 'RESET', 'NEW_EMAIL', 'OLD_EMAIL'));

create index sign_ups_resets on sign_ups (proves) where purpose = 'RESET';

-- The role that an invitation gives. Its address, the hash of its token and its end are in the row
-- of `sign_ups` with the same id.
create table invitations (
    id          uuid not null constraint invitations_pkey primary key,
    role        text not null,
    permissions text,
    events      text,
    invited_by  uuid not null,
    created_at  timestamptz not null
);

-- A key is `podo_live_` and 43 characters. Its first characters find it, its hash proves it.
create table api_keys (
    id          uuid not null constraint api_keys_pkey primary key,
    name        text not null,
    prefix      text not null,
    key_hash    bytea not null constraint api_keys_hash unique,
    role        text not null,
    permissions text,
    events      text,
    created_by  uuid not null,
    expires_at  timestamptz not null,
    revoked_at  timestamptz,
    created_at  timestamptz not null
);

set local search_path to common;
