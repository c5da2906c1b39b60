-- A change of a date or venue, or a reminder: a job turns it into one message per fan, page by page.
create table announcements (
    id          blob not null primary key,
    schedule_id blob not null,
    kind        text not null constraint announcements_kind
                check (kind in ('MOVED', 'SALE_REMINDER', 'SHOW_REMINDER')),
    -- What it is about: the start of the show or of the sale, or the moment of the change. A moved
    -- show gets a new reminder.
    about_at    integer not null,
    -- {before, after} of a change.
    details     text,
    -- The last seat, or for a reminder of a sale the last fan, that got its message.
    last_seat   integer not null,
    last_user   blob not null,
    done_at     integer,
    created_at  integer not null
);

create unique index announcements_once on announcements (schedule_id, kind, about_at);
create index announcements_open on announcements (id) where done_at is null;
create index announcements_done on announcements (done_at) where done_at is not null;

-- Who wants to be reminded of an opening.
create table sale_reminders (
    schedule_id blob not null,
    user_id     blob not null,
    created_at  integer not null,
    primary key (schedule_id, user_id)
);

create index sale_reminders_user on sale_reminders (user_id);

-- Fans who accepted a change; the others may cancel without a fee until the show begins.
create table accepted_changes (
    reservation_id  blob not null,
    announcement_id blob not null,
    created_at      integer not null,
    primary key (reservation_id, announcement_id)
);

create index event_schedules_starts on event_schedules (starts_at);
