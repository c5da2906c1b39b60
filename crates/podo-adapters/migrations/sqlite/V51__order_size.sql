-- Most seats in one order, 1 to 10 instead of the constant four.
alter table event_schedules add column seats_per_order integer not null default 4
    constraint event_schedules_order check (seats_per_order between 1 and 10);

-- As the date if null.
alter table sale_phases add column seats_per_order integer
    constraint sale_phases_order check (seats_per_order between 1 and 10);

-- SQLite cannot change a constraint: the column is replaced by one with the new bound.
alter table reservations add column seats_counted integer not null default 1
    constraint reservations_seats check (seats_counted between 1 and 10);
update reservations set seats_counted = n_seats;
alter table reservations drop column n_seats;
alter table reservations rename column seats_counted to n_seats;
