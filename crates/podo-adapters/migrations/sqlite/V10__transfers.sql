-- Whether tickets of the event may be given to somebody else.
alter table events add column transferable integer not null default 1;
