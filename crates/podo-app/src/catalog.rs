//! The catalog: what organisers create and the public sees.

mod cache;
pub mod cards;
mod changes;
pub mod images;
pub mod invalidation;
pub mod jobs;
pub mod layouts;
pub mod phases;
pub mod port;
pub mod pricing;
pub mod pricing_port;
pub mod schedules;

pub use cache::CatalogCache;
use cache::EventRecords;
pub use changes::{
    EventLine, HallView, TemplatePreview, VenueEdit, VenueView, cancel_schedule, change_schedule,
    edit_event, edit_hall, edit_venue, hall_template, list_all_events, list_venues,
    preview_template, remove, show_any_event,
};

use crate::catalog::images::ImageView;
use crate::catalog::phases::PhaseView;
use crate::catalog::port::{
    ChangeEvent, ChangeQueue, CreateEvent, CreateHall, CreateSchedule, CreateVenue, EventFilter,
    EventVerb, ScheduleRecord,
};
use crate::context::AppContext;
use crate::error::Result;
use crate::payments::port::refunds::EventPolicy;
use crate::store::{Page, PageRequest};
use podo_domain::booking::order::options::{Fees, TicketType};
use podo_domain::booking::order::price_changes::PriceChange;
use podo_domain::catalog::text::Line;
use podo_domain::catalog::{
    EventStatus, Genre, MinimumAge, NewEvent, ResaleDelay, SaleTerms, ScheduleStatus,
    ScheduleTerms, ScheduleTimes, SeatPlan, SeatTemplate, ShowStatus, StandingZone,
};
use podo_domain::payments::OfferedMethods;
use podo_domain::payments::deposits::DepositDeadline;
use podo_domain::payments::refund_policy::{RefundPeriod, RefundPolicy};
use podo_domain::waiting_room::{QueueMode, QueueSettings};
use podo_domain::{
    Currency, EventId, HallId, Refusal, ScheduleId, SeatId, Timestamp, UserId, VenueId, Won,
};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// An event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventView {
    pub id: EventId,
    pub title: String,
    pub artist: String,
    pub description: String,
    pub status: EventStatus,
    pub venue_name: String,
    pub hall_name: String,
    pub city: String,
    /// Whether its tickets can be transferred.
    pub transferable: bool,
    pub genre: Genre,
    pub minimum_age: MinimumAge,
    /// The venue's, in which its dates are shown.
    pub time_zone: String,
    /// The currency of all its amounts, which are in minor units.
    pub currency: Currency,
    /// How fans may pay.
    pub payment_methods: OfferedMethods,
    /// How long fans may take to pay to a virtual account.
    pub deposit_deadline: DepositDeadline,
    /// Whether admission is free of value-added tax.
    pub vat_exempt: bool,
    /// Absent until an organiser uploads one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poster: Option<ImageView>,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventDetail {
    #[serde(flatten)]
    pub event: EventView,
    pub schedules: Vec<ScheduleView>,
    /// What is retained of a canceled ticket's price, by days before the show.
    pub refund_rules: RefundPolicy,
    /// Pictures beside the poster, in order.
    pub gallery: Vec<ImageView>,
    pub venue_address: String,
    /// The same for each date, with the days of the calendar.
    pub refund_dates: Vec<RefundDates>,
    /// Until when an order of now can be paid to a virtual account, for each date that isn't too
    /// close.
    pub deposit_dates: Vec<DepositDate>,
}

/// The deadline of a deposit for one date.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DepositDate {
    pub schedule_id: ScheduleId,
    pub due_at: Timestamp,
}

/// The fees of a cancellation of one date's tickets, from the earliest period to the latest. None if
/// everything is refunded until the show begins.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefundDates {
    pub schedule_id: ScheduleId,
    pub periods: Vec<RefundPeriod>,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleView {
    pub id: ScheduleId,
    pub event_id: EventId,
    pub event_title: String,
    /// Of all amounts, which are in minor units.
    pub currency: Currency,
    /// The venue's, in which the date is shown.
    pub time_zone: String,
    pub sequence: u32,
    pub starts_at: Timestamp,
    pub ends_at: Timestamp,
    pub sale_starts_at: Timestamp,
    pub sale_ends_at: Timestamp,
    /// The status of the sale.
    pub status: ScheduleStatus,
    /// The status of the show.
    pub show_status: ShowStatus,
    pub prices: BTreeMap<String, Won>,
    /// A price change that is planned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_prices: Option<PriceChange>,
    pub seats: u32,
    pub seats_per_person: u32,
    /// Most seats in one order; a phase may say otherwise.
    pub seats_per_order: u32,
    /// What fans may choose at checkout beside the full price.
    pub ticket_types: Vec<TicketType>,
    /// Charged in addition to the prices.
    pub fees: Fees,
    /// The sale phases in order; empty if the whole sale is for everybody.
    pub phases: Vec<PhaseView>,
    pub queue_mode: QueueMode,
    pub now: Timestamp,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleDetail {
    #[serde(flatten)]
    pub schedule: ScheduleView,
    /// Available seats by grade.
    pub seats_left: BTreeMap<String, u32>,
}

/// The layout of a schedule: it never changes, so it can be cached indefinitely.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LayoutView {
    pub schedule_id: ScheduleId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<podo_domain::catalog::Stage>,
    /// Seats in layout order, grouped into consecutive sections.
    pub sections: Vec<SectionView>,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SectionView {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The area of a standing zone, whose places have no positions of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<StandingZone>,
    pub seats: Vec<LayoutSeat>,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LayoutSeat {
    pub row: String,
    pub y: i32,
    pub grade: String,
    pub accessible: bool,
    pub companion: bool,
    pub restricted_view: bool,
    /// A place in a standing zone; its number is the order of entry.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub standing: bool,
    // Fields that differ from seat to seat are adjacent, because a stadium compresses better that
    // way.
    pub number: String,
    pub x: i32,
    pub id: SeatId,
}

pub struct NewVenue {
    pub name: Line<200>,
    pub address: Line<300>,
    pub city: Line<100>,
    /// The zone of the settings if absent.
    pub time_zone: Option<Line<64>>,
}

pub async fn create_venue(context: &AppContext, actor: UserId, asked: NewVenue) -> Result<VenueId> {
    let now = context.now();
    let time_zone = asked.time_zone.map(changes::check_zone).transpose()?;
    let venue = VenueId::new(context.rng.id(now));
    let command = CreateVenue {
        actor,
        venue,
        name: asked.name.into(),
        address: asked.address.into(),
        city: asked.city.into(),
        time_zone: time_zone.unwrap_or_else(|| context.rules.time_zone.clone()),
        now,
    };
    context.store.create_venue(command).await?;
    Ok(venue)
}

/// Creates a hall from a template; returns its number of seats.
pub async fn create_hall(
    context: &AppContext,
    actor: UserId,
    venue: VenueId,
    name: Line<200>,
    template: SeatTemplate,
) -> Result<(HallId, u32)> {
    let capacity = u32::try_from(template.plan()?.seats.len()).unwrap_or(u32::MAX);
    let now = context.now();
    let hall = HallId::new(context.rng.id(now));
    let command = CreateHall { actor, hall, venue, name: name.into(), template, capacity, now };
    context.store.create_hall(command).await?;
    Ok((hall, capacity))
}

pub async fn create_event(context: &AppContext, actor: UserId, new: NewEvent) -> Result<EventId> {
    let now = context.now();
    let event = EventId::new(context.rng.id(now));
    let home = context.rules.currency;
    let terms = SaleTerms::of_new(new.currency, new.payment_methods.clone(), home)?;
    context.refuse_uncharged(&terms)?;
    context.store.create_event(CreateEvent { actor, event, new, terms, now }).await?;
    context.catalog.cache.invalidate(context).await;
    Ok(event)
}

pub struct NewSchedule {
    pub times: ScheduleTimes,
    pub prices: BTreeMap<String, Won>,
    pub seats_per_person: u32,
    pub seats_per_order: u32,
    pub resale_delay: ResaleDelay,
    pub queue: QueueSettings,
}

/// Creates a date of an event with all its seats; returns how many.
pub async fn create_schedule(
    context: &AppContext,
    actor: UserId,
    event: EventId,
    asked: NewSchedule,
) -> Result<(ScheduleId, u32)> {
    asked.queue.check()?;
    let terms = ScheduleTerms {
        times: asked.times,
        seats_per_person: asked.seats_per_person,
        seats_per_order: asked.seats_per_order,
        prices: asked.prices,
        resale_delay: asked.resale_delay,
    };
    terms.check()?;
    let now = context.now();
    let schedule = ScheduleId::with_room_for_seats(context.rng.id(now));
    let command = CreateSchedule {
        actor,
        schedule,
        event,
        times: asked.times,
        prices: terms.prices,
        seats_per_person: asked.seats_per_person,
        seats_per_order: asked.seats_per_order,
        resale_delay: asked.resale_delay,
        queue: asked.queue,
        draw_seed: context.rng.secret(),
        now,
    };
    let n_seats = context.store.create_schedule(command).await?;
    context.catalog.cache.invalidate(context).await;
    Ok((schedule, n_seats))
}

pub async fn change_event(
    context: &AppContext,
    actor: UserId,
    event: EventId,
    verb: EventVerb,
) -> Result<EventStatus> {
    let command = ChangeEvent { actor, event, verb, now: context.now() };
    let status = context.store.change_event(command).await?;
    for schedule in context.store.schedules_of(event).await? {
        context.catalog.schedules.forget(schedule.schedule);
    }
    context.catalog.cache.invalidate(context).await;
    Ok(status)
}

pub async fn change_queue(
    context: &AppContext,
    actor: UserId,
    schedule: ScheduleId,
    settings: QueueSettings,
) -> Result<()> {
    settings.check()?;
    let command = ChangeQueue { actor, schedule, settings, now: context.now() };
    context.store.change_queue(command).await?;
    context.catalog.schedules.forget(schedule);
    context.catalog.cache.invalidate(context).await;
    Ok(())
}

/// The public events: all but those in preparation.
pub async fn list_events(
    context: &AppContext,
    filter: EventFilter,
    page: PageRequest,
) -> Result<Page<EventView>> {
    let only = Some(filter.only.filter(is_public).unwrap_or(EventStatus::Open));
    let filter = EventFilter { only, ..filter };
    let events = context.catalog.cache.list(context, filter, page).await?;
    Ok(Page::cut(events.to_vec(), page.limit, |event| event.id.uuid()))
}

fn is_public(status: &EventStatus) -> bool {
    match status {
        EventStatus::Preparing => false,
        EventStatus::Open | EventStatus::Ended | EventStatus::Cancelled => true,
    }
}

pub async fn show_event(context: &AppContext, event: EventId) -> Result<EventDetail> {
    let records = context.catalog.cache.event(context, event).await?;
    if !is_public(&records.event.status) {
        return Err(Refusal::NotFound.into());
    }
    Ok(detail_of(&records, context.now()))
}

fn detail_of(records: &EventRecords, now: Timestamp) -> EventDetail {
    let EventRecords { event, schedules, refund_policy, gallery, venue_address, .. } = records;
    let EventPolicy { policy, time_zone } = refund_policy;
    let dates = |schedule: &ScheduleRecord| RefundDates {
        schedule_id: schedule.schedule,
        periods: policy.periods(schedule.times.starts_at, now, time_zone),
    };
    let deposit = |schedule: &ScheduleRecord| {
        let starts_at = schedule.times.starts_at;
        let due_at = event.deposit_deadline.due_at(now, starts_at, time_zone).ok()?;
        Some(DepositDate { schedule_id: schedule.schedule, due_at })
    };
    EventDetail {
        event: event.clone(),
        gallery: gallery.clone(),
        venue_address: venue_address.clone(),
        schedules: schedules.iter().map(|schedule| view_schedule(schedule, now)).collect(),
        refund_rules: policy.clone(),
        refund_dates: schedules.iter().map(dates).collect(),
        deposit_dates: schedules.iter().filter_map(deposit).collect(),
    }
}

/// Until when an order of now can be paid to a virtual account.
pub(crate) async fn deposit_due_at(
    context: &AppContext,
    event: EventId,
    starts_at: Timestamp,
    now: Timestamp,
) -> Result<Timestamp> {
    let records = context.catalog.cache.event(context, event).await?;
    let zone = &records.refund_policy.time_zone;
    Ok(records.event.deposit_deadline.due_at(now, starts_at, zone)?)
}

pub async fn show_schedule(context: &AppContext, schedule: ScheduleId) -> Result<ScheduleDetail> {
    let now = context.now();
    let record = context.catalog.schedules.get(&*context.store, schedule, now).await?;
    let snapshot = context.booking.seat_maps.snapshot(context, schedule).await?;
    let schedule = view_schedule(&record, now);
    Ok(ScheduleDetail { schedule, seats_left: snapshot.left.clone() })
}

/// The layout of a schedule that fans may see.
pub async fn show_layout(context: &AppContext, schedule: ScheduleId) -> Result<LayoutView> {
    context.catalog.schedules.get(&*context.store, schedule, context.now()).await?;
    let template = context.store.template_of(schedule).await?.ok_or(Refusal::NotFound)?;
    Ok(view_layout(schedule, template.plan()?))
}

pub fn view_layout(schedule: ScheduleId, plan: SeatPlan) -> LayoutView {
    let mut sections: Vec<SectionView> = Vec::new();
    for (index, seat) in (0..).zip(plan.seats) {
        let is_next = sections.last().is_none_or(|last| last.name != seat.section);
        if is_next {
            let zone = seat.section.as_ref().and_then(|name| plan.zones.get(name)).copied();
            sections.push(SectionView { name: seat.section, zone, seats: Vec::new() });
        }
        let view = LayoutSeat {
            id: schedule.seat(index),
            number: seat.number,
            row: seat.row,
            grade: seat.grade,
            x: seat.x,
            y: seat.y,
            accessible: seat.accessible,
            companion: seat.companion,
            restricted_view: seat.restricted_view,
            standing: seat.standing,
        };
        if let Some(section) = sections.last_mut() {
            section.seats.push(view);
        }
    }
    LayoutView { schedule_id: schedule, stage: plan.stage, sections }
}

fn view_schedule(record: &ScheduleRecord, now: Timestamp) -> ScheduleView {
    ScheduleView {
        id: record.schedule,
        event_id: record.event,
        event_title: record.event_title.clone(),
        currency: record.currency,
        time_zone: record.time_zone.clone(),
        sequence: record.sequence,
        starts_at: record.times.starts_at,
        ends_at: record.times.ends_at,
        sale_starts_at: record.times.sale_starts_at,
        sale_ends_at: record.times.sale_ends_at,
        status: record.status.at(&record.times, now),
        show_status: record.times.show_at(now),
        prices: record.prices_at(now).clone(),
        next_prices: record.price_changes.next(now).cloned(),
        seats: record.n_seats,
        seats_per_person: record.seats_per_person,
        seats_per_order: record.seats_per_order,
        ticket_types: record.options.ticket_types.clone(),
        fees: record.options.fees,
        phases: record.phases.iter().map(|phase| PhaseView::of(phase, now)).collect(),
        queue_mode: record.queue.mode,
        now,
    }
}
