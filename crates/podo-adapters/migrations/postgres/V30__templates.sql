-- What a notification is rendered from when it is sent: a template, its language, and the facts as
-- they were when the message was written. Without a template it is plain text, as before.
alter table common.notifications
    add column template text,
    add column language text,
    add column facts text;

-- Whether a fan wants reminders, which every mail of that kind lets them end.
alter table user_service.notification_settings
    add column reminders boolean not null default true;

-- Dates in notifications, tickets and calendars are in the venue's time.
alter table event_service.venues add column time_zone text not null default 'Asia/Seoul';
