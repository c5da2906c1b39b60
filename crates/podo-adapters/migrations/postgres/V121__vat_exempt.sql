-- Whether admission to an event is free of value-added tax.
alter table event_service.events add column vat_exempt boolean not null default false;
