-- SQLite cannot change a constraint: the columns are replaced by ones with the new values.
alter table sale_phases add column audience_kind text not null default 'EVERYBODY'
    constraint sale_phases_audience
    check (audience_kind in ('EVERYBODY', 'CODE', 'MEMBERS', 'VERIFIED_IDENTITY', 'DRAWN'));
update sale_phases set audience_kind = audience;
alter table sale_phases drop column audience;
alter table sale_phases rename column audience_kind to audience;

alter table phase_eligibilities add column proof text not null default 'CODE'
    constraint phase_eligibilities_source check (proof in ('CODE', 'MEMBER', 'IDENTITY', 'DRAWN'));
update phase_eligibilities set proof = source;
alter table phase_eligibilities drop column source;
alter table phase_eligibilities rename column proof to source;

-- The draw of a phase whose seats go to fans who applied. Its seed is the phase's.
create table draws (
    phase_id      blob not null primary key,
    apply_from    integer not null,
    apply_until   integer not null,
    seats_max     integer not null constraint draws_seats check (seats_max between 1 and 10),
    offer_minutes integer not null,
    -- Indexes given so far. The row serialises applications with the end of their window.
    n_applied     integer not null default 0,
    closed_at     integer,
    -- Indexes that have their place; all of them from drawn_at on.
    n_ranked      integer not null default 0,
    list_hash     blob,
    drawn_at      integer,
    -- Indexes whose fans were told that they weren't drawn.
    n_told        integer not null default 0,
    told_at       integer,
    -- When the applications without an offer were deleted.
    forgotten_at  integer,
    created_at    integer not null,
    updated_at    integer not null,
    constraint draws_window check (apply_from < apply_until),
    constraint draws_ranked check (n_ranked between 0 and n_applied)
) without rowid;

create index draws_due on draws (apply_until) where drawn_at is null;
create index draws_drawn on draws (phase_id)
    where drawn_at is not null and forgotten_at is null;

-- How many seats of a grade are given away, and how many are offered or taken.
create table draw_grades (
    phase_id blob not null,
    grade    text not null,
    quantity integer not null,
    n_out    integer not null default 0,
    primary key (phase_id, grade),
    constraint draw_grades_quantity check (n_out between 0 and quantity)
) without rowid;

create table draw_applications (
    phase_id       blob not null,
    user_id        blob not null,
    -- The order of arrival, from 0. It stays when the application changes or is withdrawn.
    idx            integer not null,
    grade          text not null,
    n_seats        integer not null
                   constraint draw_applications_seats check (n_seats between 1 and 10),
    state          text not null constraint draw_applications_state
                   check (state in ('APPLIED', 'WITHDRAWN', 'DRAWN', 'OFFERED', 'TAKEN', 'LAPSED',
                                    'PASSED')),
    -- The place in the drawn order, from 0.
    place          integer,
    -- Whether the quantity reached it in the draw.
    wins           integer not null default 0,
    reservation_id blob,
    created_at     integer not null,
    updated_at     integer not null,
    primary key (phase_id, user_id)
) without rowid;

create unique index draw_applications_idx on draw_applications (phase_id, idx);
create index draw_applications_next on draw_applications (phase_id, grade, place)
    where state = 'DRAWN';
create index draw_applications_offered on draw_applications (phase_id, grade)
    where state = 'OFFERED';
create unique index draw_applications_offer on draw_applications (reservation_id)
    where reservation_id is not null;
create index draw_applications_user on draw_applications (user_id);
