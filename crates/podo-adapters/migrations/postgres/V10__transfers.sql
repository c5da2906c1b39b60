set local search_path to event_service;

-- Whether tickets of the event may be given to somebody else.
alter table events add column transferable boolean not null default true;

set local search_path to common;
