-- Most seats in one order, 1 to 10 instead of the constant four.
alter table event_service.event_schedules add column seats_per_order bigint not null default 4
    constraint event_schedules_order check (seats_per_order between 1 and 10);

-- As the date if null.
alter table event_service.sale_phases add column seats_per_order bigint
    constraint sale_phases_order check (seats_per_order between 1 and 10);

-- Existing rows satisfy the wider bound, so they aren't read again.
alter table reservation_service.reservations drop constraint reservations_seats;
alter table reservation_service.reservations add constraint reservations_seats
    check (n_seats between 1 and 10) not valid;
