//! Venues, halls, events, schedules and their seats in the store.

use crate::catalog::EventView;
use crate::error::Result;
use crate::store::PageRequest;
use async_trait::async_trait;
use podo_domain::booking::order::options::PriceOptions;
use podo_domain::booking::order::price_changes::PriceChanges;
use podo_domain::booking::seats::{Seat, SeatStanding};
use podo_domain::catalog::phases::{Phase, PhaseMoment, phase_at};
use podo_domain::catalog::{
    EventEdit, EventStatus, Genre, NewEvent, ResaleDelay, SaleTerms, ScheduleChange,
    ScheduleStatus, ScheduleTerms, ScheduleTimes, SeatTemplate,
};
use podo_domain::id::SeatIndex;
use podo_domain::waiting_room::QueueSettings;
use podo_domain::{Currency, EventId, HallId, ScheduleId, Timestamp, UserId, VenueId, Won};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
pub struct CreateVenue {
    pub actor: UserId,
    pub venue: VenueId,
    pub name: String,
    pub address: String,
    pub city: String,
    pub time_zone: String,
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub struct CreateHall {
    pub actor: UserId,
    pub hall: HallId,
    pub venue: VenueId,
    pub name: String,
    pub template: SeatTemplate,
    pub capacity: u32,
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub struct CreateEvent {
    pub actor: UserId,
    pub event: EventId,
    pub new: NewEvent,
    pub terms: SaleTerms,
    pub now: Timestamp,
}

/// A date of an event; its seats are created from the hall's template in the same transaction.
#[derive(Clone, Debug)]
pub struct CreateSchedule {
    pub actor: UserId,
    pub schedule: ScheduleId,
    pub event: EventId,
    pub times: ScheduleTimes,
    pub prices: BTreeMap<String, Won>,
    pub seats_per_person: u32,
    pub seats_per_order: u32,
    pub resale_delay: ResaleDelay,
    pub queue: QueueSettings,
    pub draw_seed: [u8; 32],
    pub now: Timestamp,
}

/// An organiser's action on an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventVerb {
    Open,
    End,
    Cancel,
}

#[derive(Clone, Debug)]
pub struct ChangeEvent {
    pub actor: UserId,
    pub event: EventId,
    pub verb: EventVerb,
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub struct ChangeQueue {
    pub actor: UserId,
    pub schedule: ScheduleId,
    pub settings: QueueSettings,
    pub now: Timestamp,
}

/// Absent fields stay as they are.
#[derive(Clone, Debug)]
pub struct EditVenue {
    pub actor: UserId,
    pub venue: VenueId,
    pub name: Option<String>,
    pub address: Option<String>,
    pub city: Option<String>,
    /// The name of an IANA time zone.
    pub time_zone: Option<String>,
    /// Whether fans with bookings learn about it and may choose a full refund.
    pub announces: bool,
    pub now: Timestamp,
}

/// A new template applies to schedules created from now on; existing ones keep theirs.
#[derive(Clone, Debug)]
pub struct EditHall {
    pub actor: UserId,
    pub hall: HallId,
    pub name: Option<String>,
    pub template: Option<SeatTemplate>,
    pub capacity: Option<u32>,
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub struct EditEvent {
    pub actor: UserId,
    pub event: EventId,
    pub edit: EventEdit,
    /// The currency of the wallets.
    pub home: Currency,
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub struct ChangeSchedule {
    pub actor: UserId,
    pub schedule: ScheduleId,
    pub change: ScheduleChange,
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub struct CancelSchedule {
    pub actor: UserId,
    pub schedule: ScheduleId,
    pub now: Timestamp,
}

/// Something created by mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwanted {
    Venue(VenueId),
    Hall(HallId),
    Event(EventId),
    Schedule(ScheduleId),
}

#[derive(Clone, Debug)]
pub struct Remove {
    pub actor: UserId,
    pub what: Unwanted,
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub struct VenueRecord {
    pub venue: VenueId,
    pub name: String,
    pub address: String,
    pub city: String,
    pub time_zone: String,
    pub halls: Vec<HallRecord>,
}

#[derive(Clone, Debug)]
pub struct HallRecord {
    pub hall: HallId,
    pub name: String,
    pub capacity: u32,
}

#[derive(Clone, Debug)]
pub struct ScheduleRecord {
    pub schedule: ScheduleId,
    pub event: EventId,
    pub event_status: EventStatus,
    pub event_title: String,
    /// Of all amounts.
    pub currency: Currency,
    /// The venue's.
    pub time_zone: String,
    pub sequence: u32,
    pub times: ScheduleTimes,
    pub status: ScheduleStatus,
    /// The prices at first.
    pub prices: BTreeMap<String, Won>,
    pub price_changes: PriceChanges,
    pub n_seats: u32,
    pub seats_per_person: u32,
    /// Most seats in one order; a phase may say otherwise.
    pub seats_per_order: u32,
    pub resale_delay: ResaleDelay,
    /// Ticket types and fees.
    pub options: PriceOptions,
    /// In the order of their windows; empty if the date is sold to everybody at once.
    pub phases: Vec<Phase>,
    pub queue: QueueSettings,
    pub draw_seed: [u8; 32],
}

impl ScheduleRecord {
    /// What seats cost that are held now.
    pub fn prices_at(&self, now: Timestamp) -> &BTreeMap<String, Won> {
        self.price_changes.current(now).map_or(&self.prices, |change| &change.prices)
    }

    /// The date was canceled, by itself or with its event.
    pub fn is_canceled(&self) -> bool {
        self.status == ScheduleStatus::Cancelled
    }

    /// The date as each of its waiting rooms sees it: the phase's window and draw instead of the
    /// sale's, under the room's id. A date without phases is its own room.
    pub fn rooms(&self) -> Vec<ScheduleRecord> {
        if self.phases.is_empty() {
            return vec![self.clone()];
        }
        let room = |phase: &Phase| ScheduleRecord {
            schedule: phase.id.room(),
            times: ScheduleTimes {
                sale_starts_at: phase.terms.window.starts_at,
                sale_ends_at: phase.terms.window.ends_at,
                ..self.times
            },
            phases: vec![phase.clone()],
            draw_seed: phase.draw_seed,
            ..self.clone()
        };
        self.phases.iter().map(room).collect()
    }

    /// The phase of this waiting room; `None` if it is the room of a whole date.
    pub fn phase(&self) -> Option<&Phase> {
        self.phases.first().filter(|phase| phase.id.room() == self.schedule)
    }

    /// The id of the waiting room for this moment: the running phase's or the next one's, or the
    /// last one's after all.
    pub fn room_at(&self, now: Timestamp) -> ScheduleId {
        let phase = match phase_at(&self.phases, now) {
            PhaseMoment::Running(phase) | PhaseMoment::Before(phase) => Some(phase),
            PhaseMoment::Over => self.phases.last(),
        };
        phase.map_or(self.schedule, |phase| phase.id.room())
    }
}

/// The public seat counts of one grade, and the revenue of those sold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GradeSales {
    pub grade: String,
    pub available: u32,
    pub held: u32,
    pub sold: u32,
    /// Kept from sale by allocations.
    pub kept: u32,
    pub revenue: Won,
}

/// Selects events. Fans see only open ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EventFilter {
    pub query: Option<String>,
    pub city: Option<String>,
    pub only: Option<EventStatus>,
    pub genre: Option<Genre>,
    /// Events that have a date with this sale status.
    pub schedule_status: Option<ScheduleStatus>,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    /// Events with a sale or a phase that opens in this period.
    pub opens_from: Option<Timestamp>,
    pub opens_to: Option<Timestamp>,
    /// Only these events.
    pub events: Option<BTreeSet<EventId>>,
}

#[async_trait]
pub trait Catalog: Send + Sync {
    async fn create_venue(&self, command: CreateVenue) -> Result<()>;

    /// Refusals: `NotFound` (venue), `NameTaken`.
    async fn create_hall(&self, command: CreateHall) -> Result<()>;

    /// Refusals: `NotFound` (hall, or a hall of another venue).
    async fn create_event(&self, command: CreateEvent) -> Result<()>;

    /// Creates the schedule and all of its seats; returns how many. Refusals: `NotFound`,
    /// `WrongEventState`, `InvalidSchedule`.
    async fn create_schedule(&self, command: CreateSchedule) -> Result<u32>;

    async fn change_event(&self, command: ChangeEvent) -> Result<EventStatus>;

    async fn change_queue(&self, command: ChangeQueue) -> Result<()>;

    /// Refusals: `NotFound`.
    async fn edit_venue(&self, command: EditVenue) -> Result<()>;

    /// Refusals: `NotFound`, `NameTaken`.
    async fn edit_hall(&self, command: EditHall) -> Result<()>;

    /// Refusals: `NotFound`, `CurrencyFixed`, `WalletCurrency`, `InvalidTemplate` (prices that the new
    /// currency doesn't permit).
    async fn edit_event(&self, command: EditEvent) -> Result<()>;

    /// Refusals: `NotFound`, `SaleBegun`, `InvalidSchedule`, `InvalidTemplate` (prices).
    async fn change_schedule(&self, command: ChangeSchedule) -> Result<ScheduleTerms>;

    /// Stops the sale; every payment will be refunded. Idempotent. Refusals: `NotFound`.
    async fn cancel_schedule(&self, command: CancelSchedule) -> Result<()>;

    /// Refusals: `NotFound`, `InUse` if anything depends on it or one of its seats was ever held.
    async fn remove(&self, command: Remove) -> Result<()>;

    /// Venues with their halls, newest first.
    async fn venues(&self, page: PageRequest) -> Result<Vec<VenueRecord>>;

    async fn hall_template(&self, hall: HallId) -> Result<Option<SeatTemplate>>;

    async fn events(&self, filter: EventFilter, page: PageRequest) -> Result<Vec<EventView>>;

    async fn event(&self, event: EventId) -> Result<Option<EventView>>;

    /// The address of the event's venue.
    async fn venue_address(&self, event: EventId) -> Result<Option<String>>;

    async fn schedules_of(&self, event: EventId) -> Result<Vec<ScheduleRecord>>;

    async fn schedule(&self, schedule: ScheduleId) -> Result<Option<ScheduleRecord>>;

    /// The template that the schedule's seats were created from.
    async fn template_of(&self, schedule: ScheduleId) -> Result<Option<SeatTemplate>>;

    /// How many seats of each grade are available, held and sold, and for how much.
    async fn seats_by_grade(&self, schedule: ScheduleId, now: Timestamp)
    -> Result<Vec<GradeSales>>;

    /// Every seat in layout order.
    async fn seats_of(&self, schedule: ScheduleId) -> Result<Vec<Seat>>;

    /// Every claimed seat, including those with an expired hold.
    async fn claimed_seats(&self, schedule: ScheduleId) -> Result<Vec<SeatStanding>>;

    /// The state of these seats; unknown seats are left out.
    async fn seats_at(
        &self,
        schedule: ScheduleId,
        seats: Vec<SeatIndex>,
    ) -> Result<Vec<SeatStanding>>;

    /// Schedules with a live queue: gathering, selling, or just over.
    async fn schedules_alive(&self, now: Timestamp) -> Result<Vec<ScheduleRecord>>;

    /// Stores the current status of dates whose sale has opened or ended since; returns how many
    /// changed.
    async fn update_schedule_statuses(&self, limit: u32, now: Timestamp) -> Result<u64>;

    /// Schedules that ended between the two.
    async fn schedules_ended(&self, from: Timestamp, to: Timestamp) -> Result<Vec<ScheduleId>>;
}
