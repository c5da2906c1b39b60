-- The highest number that a phase of the date ever had; 0 for a date without phases.
alter table event_service.event_schedules add column last_phase bigint not null default 0;

-- When a date is sold to whom. Windows of one date don't overlap.
create table event_service.sale_phases (
    id               uuid not null primary key,
    schedule_id      uuid not null
                     constraint sale_phases_date references event_service.event_schedules (id),
    name             text not null,
    name_en          text not null,
    starts_at        timestamptz not null,
    ends_at          timestamptz not null,
    audience         text not null constraint sale_phases_audience
                     check (audience in ('EVERYBODY', 'CODE', 'MEMBERS', 'VERIFIED_IDENTITY')),
    seats_per_person bigint not null constraint sale_phases_person
                     check (seats_per_person between 1 and 50),
    -- {grades, sections} as the organiser named them, and the ranges of seats that they mean.
    inventory        jsonb not null,
    seat_ranges      jsonb,
    -- Decides the order of its own lobby.
    draw_seed        bytea not null,
    created_at       timestamptz not null,
    updated_at       timestamptz not null,
    constraint sale_phases_window check (starts_at < ends_at)
);

create index sale_phases_schedule on event_service.sale_phases (schedule_id, starts_at);

-- Codes that make fans eligible, as keyed hashes.
create table event_service.phase_codes (
    phase_id   uuid not null,
    code_hash  bytea not null,
    uses_max   bigint not null,
    n_used     bigint not null,
    created_at timestamptz not null,
    primary key (phase_id, code_hash),
    constraint phase_codes_uses check (n_used between 0 and uses_max)
);

-- A member list: each address, phone or membership number with the name, as keyed hashes.
create table event_service.phase_members (
    phase_id   uuid not null,
    key_hash   bytea not null,
    member_id  uuid not null,
    created_at timestamptz not null,
    primary key (phase_id, key_hash)
);

-- Who proved what a phase asks for.
create table event_service.phase_eligibilities (
    phase_id   uuid not null,
    user_id    uuid not null,
    source     text not null constraint phase_eligibilities_source
               check (source in ('CODE', 'MEMBER', 'IDENTITY')),
    member_id  uuid,
    created_at timestamptz not null,
    primary key (phase_id, user_id)
);

-- One member, one account.
create unique index phase_eligibilities_member on event_service.phase_eligibilities
    (phase_id, member_id) where member_id is not null;

-- The progress of member lists that are being read.
create table event_service.phase_imports (
    id         uuid not null primary key,
    phase_id   uuid not null,
    actor_id   uuid not null,
    n_lines    bigint not null,
    n_added    bigint not null,
    n_known    bigint not null,
    n_wrong    bigint not null,
    -- The first wrong lines.
    problems   jsonb not null,
    done_at    timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null
);

create index phase_imports_phase on event_service.phase_imports (phase_id, id);

-- The phase whose waiting room admitted the fan.
alter table reservation_service.reservations add column phase_id uuid;
