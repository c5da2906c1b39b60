-- Existing rows satisfy the wider bounds, so they aren't read again.
alter table event_service.sale_phases drop constraint sale_phases_audience;
alter table event_service.sale_phases add constraint sale_phases_audience
    check (audience in ('EVERYBODY', 'CODE', 'MEMBERS', 'VERIFIED_IDENTITY', 'DRAWN')) not valid;
alter table event_service.phase_eligibilities drop constraint phase_eligibilities_source;
alter table event_service.phase_eligibilities add constraint phase_eligibilities_source
    check (source in ('CODE', 'MEMBER', 'IDENTITY', 'DRAWN')) not valid;

-- The draw of a phase whose seats go to fans who applied. Its seed is the phase's.
create table event_service.draws (
    phase_id      uuid not null primary key,
    apply_from    timestamptz not null,
    apply_until   timestamptz not null,
    seats_max     bigint not null constraint draws_seats check (seats_max between 1 and 10),
    offer_minutes bigint not null,
    -- Indexes given so far. The row serialises applications with the end of their window.
    n_applied     bigint not null default 0,
    closed_at     timestamptz,
    -- Indexes that have their place; all of them from drawn_at on.
    n_ranked      bigint not null default 0,
    list_hash     bytea,
    drawn_at      timestamptz,
    -- Indexes whose fans were told that they weren't drawn.
    n_told        bigint not null default 0,
    told_at       timestamptz,
    -- When the applications without an offer were deleted.
    forgotten_at  timestamptz,
    created_at    timestamptz not null,
    updated_at    timestamptz not null,
    constraint draws_window check (apply_from < apply_until),
    constraint draws_ranked check (n_ranked between 0 and n_applied)
);

create index draws_due on event_service.draws (apply_until) where drawn_at is null;
create index draws_drawn on event_service.draws (phase_id)
    where drawn_at is not null and forgotten_at is null;

-- How many seats of a grade are given away, and how many are offered or taken.
create table event_service.draw_grades (
    phase_id uuid not null,
    grade    text not null,
    quantity bigint not null,
    n_out    bigint not null default 0,
    primary key (phase_id, grade),
    constraint draw_grades_quantity check (n_out between 0 and quantity)
);

create table event_service.draw_applications (
    phase_id       uuid not null,
    user_id        uuid not null,
    -- The order of arrival, from 0. It stays when the application changes or is withdrawn.
    idx            bigint not null,
    grade          text not null,
    n_seats        bigint not null
                   constraint draw_applications_seats check (n_seats between 1 and 10),
    state          text not null constraint draw_applications_state
                   check (state in ('APPLIED', 'WITHDRAWN', 'DRAWN', 'OFFERED', 'TAKEN', 'LAPSED',
                                    'PASSED')),
    -- The place in the drawn order, from 0.
    place          bigint,
    -- Whether the quantity reached it in the draw.
    wins           boolean not null default false,
    reservation_id uuid,
    created_at     timestamptz not null,
    updated_at     timestamptz not null,
    primary key (phase_id, user_id)
);

create unique index draw_applications_idx on event_service.draw_applications (phase_id, idx);
create index draw_applications_next on event_service.draw_applications (phase_id, grade, place)
    where state = 'DRAWN';
create index draw_applications_offered on event_service.draw_applications (phase_id, grade)
    where state = 'OFFERED';
create unique index draw_applications_offer on event_service.draw_applications (reservation_id)
    where reservation_id is not null;
create index draw_applications_user on event_service.draw_applications (user_id);
