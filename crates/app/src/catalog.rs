//! The catalog: what organisers make and what everybody can see of it.

mod changes;
mod shelf;

pub use changes::{
    EventEdit, HallView, TemplatePreview, VenueEdit, VenueView, cancel_schedule, change_schedule,
    edit_event, edit_hall, edit_venue, hall_template, list_all_events, list_venues,
    preview_template, remove, show_any_event,
};
pub use shelf::Shelf;

use crate::error::Result;
use crate::paging::{Page, PageAsk};
use crate::platform::Platform;
use crate::ports::catalog::{
    ChangeEvent, ChangeQueue, CreateEvent, CreateHall, CreateSchedule, CreateVenue, EventFilter,
    EventRecord, EventVerb, ScheduleRecord,
};
use domain::catalog::{
    EventStatus, ResaleDelay, ScheduleStatus, ScheduleTerms, ScheduleTimes, SeatPlan, SeatTemplate,
    ShowStatus,
};
use domain::queue::{QueueMode, QueueSettings};
use domain::refunds::RefundPolicy;
use domain::text::{Line, Prose};
use domain::{EventId, HallId, Refusal, ScheduleId, SeatId, Timestamp, UserId, VenueId, Won};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

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
    /// May its tickets be given to somebody else?
    pub transferable: bool,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventDetail {
    #[serde(flatten)]
    pub event: EventView,
    pub schedules: Vec<ScheduleView>,
    /// What is kept of a canceled ticket, by days before the show.
    pub refund_rules: RefundPolicy,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleView {
    pub id: ScheduleId,
    pub event_id: EventId,
    pub event_title: String,
    pub sequence: u32,
    pub starts_at: Timestamp,
    pub ends_at: Timestamp,
    pub sale_starts_at: Timestamp,
    pub sale_ends_at: Timestamp,
    /// Where the sale stands.
    pub status: ScheduleStatus,
    /// Where the show stands.
    pub show_status: ShowStatus,
    pub prices: BTreeMap<String, Won>,
    pub seats: u32,
    pub seats_per_person: u32,
    pub queue_mode: QueueMode,
    pub now: Timestamp,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleDetail {
    #[serde(flatten)]
    pub schedule: ScheduleView,
    /// Free seats by grade.
    pub seats_left: BTreeMap<String, u32>,
}

/// The layout of a schedule: it never changes, so it can be cached for ever.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LayoutView {
    pub schedule_id: ScheduleId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<domain::catalog::Stage>,
    /// Seats in layout order, in sections that follow each other.
    pub sections: Vec<SectionView>,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SectionView {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
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
    /// A place in a standing zone; its number is the order of going in.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub standing: bool,
    // What differs from seat to seat lies together: a stadium compresses better.
    pub number: String,
    pub x: i32,
    pub id: SeatId,
}

pub struct NewVenue {
    pub name: Line<200>,
    pub address: Line<300>,
    pub city: Line<100>,
}

pub async fn create_venue(platform: &Platform, actor: UserId, asked: NewVenue) -> Result<VenueId> {
    let now = platform.now();
    let venue = VenueId::new(platform.chance.id(now));
    let command = CreateVenue {
        actor,
        venue,
        name: asked.name.into(),
        address: asked.address.into(),
        city: asked.city.into(),
        now,
    };
    platform.store.create_venue(command).await?;
    Ok(venue)
}

/// Makes a hall from a template; says how many seats it has.
pub async fn create_hall(
    platform: &Platform,
    actor: UserId,
    venue: VenueId,
    name: Line<200>,
    template: SeatTemplate,
) -> Result<(HallId, u32)> {
    let capacity = u32::try_from(template.plan()?.seats.len()).unwrap_or(u32::MAX);
    let now = platform.now();
    let hall = HallId::new(platform.chance.id(now));
    let command = CreateHall { actor, hall, venue, name: name.into(), template, capacity, now };
    platform.store.create_hall(command).await?;
    Ok((hall, capacity))
}

pub struct NewEvent {
    pub title: Line<300>,
    pub artist: Line<200>,
    pub description: Prose<5000>,
    pub venue: VenueId,
    pub hall: HallId,
    pub transferable: bool,
}

pub async fn create_event(platform: &Platform, actor: UserId, asked: NewEvent) -> Result<EventId> {
    let now = platform.now();
    let event = EventId::new(platform.chance.id(now));
    let command = CreateEvent {
        actor,
        event,
        title: asked.title.into(),
        artist: asked.artist.into(),
        description: asked.description.into(),
        venue: asked.venue,
        hall: asked.hall,
        transferable: asked.transferable,
        now,
    };
    platform.store.create_event(command).await?;
    platform.shelf.tell(platform).await;
    Ok(event)
}

pub struct NewSchedule {
    pub times: ScheduleTimes,
    pub prices: BTreeMap<String, Won>,
    pub seats_per_person: u32,
    pub resale_delay: ResaleDelay,
    pub queue: QueueSettings,
}

/// Makes a date of an event with all its seats; says how many.
pub async fn create_schedule(
    platform: &Platform,
    actor: UserId,
    event: EventId,
    asked: NewSchedule,
) -> Result<(ScheduleId, u32)> {
    asked.queue.check()?;
    let terms = ScheduleTerms {
        times: asked.times,
        seats_per_person: asked.seats_per_person,
        prices: asked.prices,
        resale_delay: asked.resale_delay,
    };
    terms.check()?;
    let now = platform.now();
    let schedule = ScheduleId::with_room_for_seats(platform.chance.id(now));
    let command = CreateSchedule {
        actor,
        schedule,
        event,
        times: asked.times,
        prices: terms.prices,
        seats_per_person: asked.seats_per_person,
        resale_delay: asked.resale_delay,
        queue: asked.queue,
        draw_seed: platform.chance.secret(),
        now,
    };
    let n_seats = platform.store.create_schedule(command).await?;
    platform.shelf.tell(platform).await;
    Ok((schedule, n_seats))
}

pub async fn change_event(
    platform: &Platform,
    actor: UserId,
    event: EventId,
    verb: EventVerb,
) -> Result<EventStatus> {
    let command = ChangeEvent { actor, event, verb, now: platform.now() };
    let status = platform.store.change_event(command).await?;
    for schedule in platform.store.schedules_of(event).await? {
        platform.schedules.forget(schedule.schedule);
    }
    platform.shelf.tell(platform).await;
    Ok(status)
}

pub async fn change_queue(
    platform: &Platform,
    actor: UserId,
    schedule: ScheduleId,
    settings: QueueSettings,
) -> Result<()> {
    settings.check()?;
    let command = ChangeQueue { actor, schedule, settings, now: platform.now() };
    platform.store.change_queue(command).await?;
    platform.schedules.forget(schedule);
    platform.shelf.tell(platform).await;
    Ok(())
}

/// What fans may list: anything but events still being prepared.
pub async fn list_events(
    platform: &Platform,
    filter: EventFilter,
    page: PageAsk,
) -> Result<Page<EventView>> {
    let only = Some(filter.only.filter(is_public).unwrap_or(EventStatus::Open));
    let filter = EventFilter { only, ..filter };
    let events = platform.shelf.list(platform, filter, page).await?;
    let views = events.iter().map(view_event).collect();
    Ok(Page::cut(views, page.limit, |event| event.id.uuid()))
}

fn is_public(status: &EventStatus) -> bool {
    match status {
        EventStatus::Preparing => false,
        EventStatus::Open | EventStatus::Ended | EventStatus::Cancelled => true,
    }
}

pub async fn show_event(platform: &Platform, event: EventId) -> Result<EventDetail> {
    let records = platform.shelf.event(platform, event).await?;
    if !is_public(&records.event.status) {
        return Err(Refusal::NotFound.into());
    }
    let now = platform.now();
    let schedules = records.schedules.iter().map(|schedule| view_schedule(schedule, now));
    Ok(EventDetail {
        event: view_event(&records.event),
        schedules: schedules.collect(),
        refund_rules: records.refund_policy.clone(),
    })
}

pub async fn show_schedule(platform: &Platform, schedule: ScheduleId) -> Result<ScheduleDetail> {
    let now = platform.now();
    let record = platform.schedules.get(&*platform.store, schedule, now).await?;
    let snapshot = platform.seat_maps.snapshot(platform, schedule).await?;
    let schedule = view_schedule(&record, now);
    Ok(ScheduleDetail { schedule, seats_left: snapshot.left.clone() })
}

/// The layout of a schedule that fans may see.
pub async fn show_layout(platform: &Platform, schedule: ScheduleId) -> Result<LayoutView> {
    platform.schedules.get(&*platform.store, schedule, platform.now()).await?;
    let template = platform.store.template_of(schedule).await?.ok_or(Refusal::NotFound)?;
    Ok(view_layout(schedule, template.plan()?))
}

pub fn view_layout(schedule: ScheduleId, plan: SeatPlan) -> LayoutView {
    let mut sections: Vec<SectionView> = Vec::new();
    for (index, seat) in (0..).zip(plan.seats) {
        let is_next = sections.last().is_none_or(|last| last.name != seat.section);
        if is_next {
            sections.push(SectionView { name: seat.section, seats: Vec::new() });
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

fn view_event(record: &EventRecord) -> EventView {
    EventView {
        id: record.event,
        title: record.title.clone(),
        artist: record.artist.clone(),
        description: record.description.clone(),
        status: record.status,
        venue_name: record.venue_name.clone(),
        hall_name: record.hall_name.clone(),
        city: record.city.clone(),
        transferable: record.transferable,
    }
}

fn view_schedule(record: &ScheduleRecord, now: Timestamp) -> ScheduleView {
    ScheduleView {
        id: record.schedule,
        event_id: record.event,
        event_title: record.event_title.clone(),
        sequence: record.sequence,
        starts_at: record.times.starts_at,
        ends_at: record.times.ends_at,
        sale_starts_at: record.times.sale_starts_at,
        sale_ends_at: record.times.sale_ends_at,
        status: record.status.at(&record.times, now),
        show_status: record.times.show_at(now),
        prices: record.prices.clone(),
        seats: record.n_seats,
        seats_per_person: record.seats_per_person,
        queue_mode: record.queue.mode,
        now,
    }
}
