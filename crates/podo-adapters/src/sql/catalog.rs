//! Venues, halls, events, schedules and seats.

pub(crate) mod announce;
mod change;
mod create;
mod events;
mod images;
mod moved;
mod phase_people;
pub(crate) mod phase_webhooks;
pub(crate) mod phases;
pub(crate) mod promotions;
mod read;
mod status;

pub(super) use announce::announce_change;

use crate::sql::engine::commands::commands;
use podo_app::catalog::EventView;
use podo_app::catalog::port::{
    CancelSchedule, Catalog, ChangeEvent, ChangeQueue, ChangeSchedule, CreateEvent, CreateHall,
    CreateSchedule, CreateVenue, EditEvent, EditHall, EditVenue, EventFilter, GradeSales, Remove,
    ScheduleRecord, VenueRecord,
};
use podo_app::store::PageRequest;
use podo_domain::booking::seats::{Seat, SeatStanding};
use podo_domain::catalog::{EventStatus, ScheduleTerms, SeatTemplate};
use podo_domain::id::SeatIndex;
use podo_domain::{EventId, HallId, ScheduleId, Timestamp};

commands! {
    impl Catalog for SqlStore {
        write create_venue(CreateVenue) -> () as Event => create::create_venue;
        write create_hall(CreateHall) -> () as Event => create::create_hall;
        write create_event(CreateEvent) -> () as Event => events::create_event;
        write create_schedule(CreateSchedule) -> u32 as Event => create::create_schedule;
        write change_event(ChangeEvent) -> EventStatus as Event => create::change_event;
        write change_queue(ChangeQueue) -> () as Event => create::change_queue;
        write edit_venue(EditVenue) -> () as Event => change::edit_venue;
        write edit_hall(EditHall) -> () as Event => change::edit_hall;
        write edit_event(EditEvent) -> () as Event => events::edit_event;
        write change_schedule(ChangeSchedule) -> ScheduleTerms as Event => change::change_schedule;
        write cancel_schedule(CancelSchedule) -> () as Event => change::cancel_schedule;
        write remove(Remove) -> () as Event => change::remove;
        read venues(Venues { page: PageRequest })
            -> Vec<VenueRecord> as Event or_replica => read::venues;
        read hall_template(HallTemplate { hall: HallId })
            -> Option<SeatTemplate> as Event or_replica => read::hall_template;
        read events(Events { filter: EventFilter, page: PageRequest })
            -> Vec<EventView> as Event or_replica => events::events;
        read event(EventById { event: EventId })
            -> Option<EventView> as Event or_replica => events::event;
        read venue_address(VenueAddress { event: EventId })
            -> Option<String> as Event or_replica => events::venue_address;
        read schedules_of(SchedulesOf { event: EventId })
            -> Vec<ScheduleRecord> as Event or_replica => read::schedules_of;
        read schedule(ScheduleById { schedule: ScheduleId })
            -> Option<ScheduleRecord> as Event => read::schedule;
        read template_of(TemplateOf { schedule: ScheduleId })
            -> Option<SeatTemplate> as Event or_replica => read::template_of;
        read seats_of(SeatsOf { schedule: ScheduleId })
            -> Vec<Seat> as Event or_replica => read::seats_of;
        read claimed_seats(ClaimedSeats { schedule: ScheduleId })
            -> Vec<SeatStanding> as Event or_replica => read::claimed_seats;
        read seats_at(SeatsAt { schedule: ScheduleId, seats: Vec<SeatIndex> })
            -> Vec<SeatStanding> as Event or_replica => read::seats_at;
        read schedules_alive(SchedulesAlive { now: Timestamp })
            -> Vec<ScheduleRecord> as Worker => read::schedules_alive;
        write update_schedule_statuses(UpdateScheduleStatuses { limit: u32, now: Timestamp })
            -> u64 as Event => status::update_statuses;
        read schedules_ended(SchedulesEnded { from: Timestamp, to: Timestamp })
            -> Vec<ScheduleId> as Worker => read::schedules_ended;
        read seats_by_grade(SeatsByGrade { schedule: ScheduleId, now: Timestamp })
            -> Vec<GradeSales> as ReadOnly or_replica => read::seats_by_grade;
    }
}
