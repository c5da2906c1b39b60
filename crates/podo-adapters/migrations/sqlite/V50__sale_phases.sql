-- The highest number that a phase of the date ever had; 0 for a date without phases.
alter table event_schedules add column last_phase integer not null default 0;

-- When a date is sold to whom. Windows of one date don't overlap.
create table sale_phases (
    id               blob not null primary key,
    schedule_id      blob not null
                     constraint sale_phases_date references event_schedules (id),
    name             text not null,
    name_en          text not null,
    starts_at        integer not null,
    ends_at          integer not null,
    audience         text not null constraint sale_phases_audience
                     check (audience in ('EVERYBODY', 'CODE', 'MEMBERS', 'VERIFIED_IDENTITY')),
    seats_per_person integer not null constraint sale_phases_person
                     check (seats_per_person between 1 and 50),
    -- {grades, sections} as the organiser named them, and the ranges of seats that they mean.
    inventory        text not null,
    seat_ranges      text,
    -- Decides the order of its own lobby.
    draw_seed        blob not null,
    created_at       integer not null,
    updated_at       integer not null,
    constraint sale_phases_window check (starts_at < ends_at)
) without rowid;

create index sale_phases_schedule on sale_phases (schedule_id, starts_at);

-- Codes that make fans eligible, as keyed hashes.
create table phase_codes (
    phase_id   blob not null,
    code_hash  blob not null,
    uses_max   integer not null,
    n_used     integer not null,
    created_at integer not null,
    primary key (phase_id, code_hash),
    constraint phase_codes_uses check (n_used between 0 and uses_max)
) without rowid;

-- A member list: each address, phone or membership number with the name, as keyed hashes.
create table phase_members (
    phase_id   blob not null,
    key_hash   blob not null,
    member_id  blob not null,
    created_at integer not null,
    primary key (phase_id, key_hash)
) without rowid;

-- Who proved what a phase asks for.
create table phase_eligibilities (
    phase_id   blob not null,
    user_id    blob not null,
    source     text not null constraint phase_eligibilities_source
               check (source in ('CODE', 'MEMBER', 'IDENTITY')),
    member_id  blob,
    created_at integer not null,
    primary key (phase_id, user_id)
) without rowid;

-- One member, one account.
create unique index phase_eligibilities_member on phase_eligibilities (phase_id, member_id)
    where member_id is not null;

-- The progress of member lists that are being read.
create table phase_imports (
    id         blob not null primary key,
    phase_id   blob not null,
    actor_id   blob not null,
    n_lines    integer not null,
    n_added    integer not null,
    n_known    integer not null,
    n_wrong    integer not null,
    -- The first wrong lines, as JSON.
    problems   text not null,
    done_at    integer,
    created_at integer not null,
    updated_at integer not null
) without rowid;

create index phase_imports_phase on phase_imports (phase_id, id);

-- The phase whose waiting room admitted the fan.
alter table reservations add column phase_id blob;
