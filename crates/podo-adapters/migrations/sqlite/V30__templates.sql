-- What a notification is rendered from when it is sent: a template, its language, and the facts as
-- they were when the message was written. Without a template it is plain text, as before.
alter table notifications add column template text;
alter table notifications add column language text;
alter table notifications add column facts text;

-- Whether a fan wants reminders, which every mail of that kind lets them end.
alter table notification_settings add column reminders integer not null default 1;

-- Dates in notifications, tickets and calendars are in the venue's time.
alter table venues add column time_zone text not null default 'Asia/Seoul';
