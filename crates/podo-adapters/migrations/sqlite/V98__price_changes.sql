-- Prices from a moment on, for seats that are held or sold later.
alter table event_schedules add column price_changes text;
