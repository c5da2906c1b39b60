-- A change of a date or venue, or a reminder: a job turns it into one message per fan, page by page.
create table event_service.announcements (
    id          uuid not null primary key,
    schedule_id uuid not null,
    kind        text not null constraint announcements_kind
                check (kind in ('MOVED', 'SALE_REMINDER', 'SHOW_REMINDER')),
    -- What it is about: the start of the show or of the sale, or the moment of the change. A moved
    -- show gets a new reminder.
    about_at    timestamptz not null,
    -- {before, after} of a change.
    details     text,
    -- The last seat, or for a reminder of a sale the last fan, that got its message.
    last_seat   bigint not null,
    last_user   uuid not null,
    done_at     timestamptz,
    created_at  timestamptz not null
);

create unique index announcements_once on event_service.announcements (schedule_id, kind, about_at);
create index announcements_open on event_service.announcements (id) where done_at is null;
create index announcements_done on event_service.announcements (done_at) where done_at is not null;

-- Who wants to be reminded of an opening.
create table event_service.sale_reminders (
    schedule_id uuid not null,
    user_id     uuid not null,
    created_at  timestamptz not null,
    primary key (schedule_id, user_id)
);

create index sale_reminders_user on event_service.sale_reminders (user_id);

-- Fans who accepted a change; the others may cancel without a fee until the show begins.
create table reservation_service.accepted_changes (
    reservation_id  uuid not null,
    announcement_id uuid not null,
    created_at      timestamptz not null,
    primary key (reservation_id, announcement_id)
);

create index event_schedules_starts on event_service.event_schedules (starts_at);
