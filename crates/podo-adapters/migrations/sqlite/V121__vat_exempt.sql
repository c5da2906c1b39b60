-- Whether admission to an event is free of value-added tax.
alter table events add column vat_exempt integer not null default 0
    constraint events_vat_exempt check (vat_exempt in (0, 1));
