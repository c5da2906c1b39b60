//! What organisers change, take back and look at.

use super::{EventDetail, EventView, ScheduleView, view_event, view_layout, view_schedule};
use crate::catalog::LayoutView;
use crate::error::Result;
use crate::paging::{Page, PageAsk};
use crate::platform::Platform;
use crate::ports::catalog::{
    CancelSchedule, ChangeSchedule, EditEvent, EditHall, EditVenue, EventFilter, Remove, Unwanted,
    VenueRecord,
};
use domain::catalog::{ScheduleChange, SeatTemplate};
use domain::text::{Line, Prose};
use domain::{EventId, HallId, Refusal, ScheduleId, UserId, VenueId};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VenueView {
    pub id: VenueId,
    pub name: String,
    pub address: String,
    pub city: String,
    pub halls: Vec<HallView>,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HallView {
    pub id: HallId,
    pub name: String,
    pub capacity: u32,
}

/// Venues with their halls, newest first.
pub async fn list_venues(platform: &Platform, page: PageAsk) -> Result<Page<VenueView>> {
    let venues = platform.store.venues(page).await?;
    let views = venues.into_iter().map(view_venue).collect();
    Ok(Page::cut(views, page.limit, |venue: &VenueView| venue.id.uuid()))
}

fn view_venue(record: VenueRecord) -> VenueView {
    let halls = record.halls.into_iter();
    let hall = |hall: crate::ports::catalog::HallRecord| HallView {
        id: hall.hall,
        name: hall.name,
        capacity: hall.capacity,
    };
    VenueView {
        id: record.venue,
        name: record.name,
        address: record.address,
        city: record.city,
        halls: halls.map(hall).collect(),
    }
}

pub async fn hall_template(platform: &Platform, hall: HallId) -> Result<SeatTemplate> {
    Ok(platform.store.hall_template(hall).await?.ok_or(Refusal::NotFound)?)
}

/// Every event, also those that fans do not see yet.
pub async fn list_all_events(
    platform: &Platform,
    filter: EventFilter,
    page: PageAsk,
) -> Result<Page<EventView>> {
    let events = platform.store.events(filter, page).await?;
    let views = events.iter().map(view_event).collect();
    Ok(Page::cut(views, page.limit, |event: &EventView| event.id.uuid()))
}

pub async fn show_any_event(platform: &Platform, event: EventId) -> Result<EventDetail> {
    let record = platform.store.event(event).await?.ok_or(Refusal::NotFound)?;
    let now = platform.now();
    let schedules = platform.store.schedules_of(event).await?;
    let schedules = schedules.iter().map(|schedule| view_schedule(schedule, now)).collect();
    let refund_rules = platform.store.refund_policy(event).await?.unwrap_or_default();
    Ok(EventDetail { event: view_event(&record), schedules, refund_rules })
}

/// What is left out stays as it is.
#[derive(Default)]
pub struct VenueEdit {
    pub name: Option<Line<200>>,
    pub address: Option<Line<300>>,
    pub city: Option<Line<100>>,
}

pub async fn edit_venue(
    platform: &Platform,
    actor: UserId,
    venue: VenueId,
    edit: VenueEdit,
) -> Result<()> {
    let command = EditVenue {
        actor,
        venue,
        name: edit.name.map(String::from),
        address: edit.address.map(String::from),
        city: edit.city.map(String::from),
        now: platform.now(),
    };
    platform.store.edit_venue(command).await?;
    platform.shelf.tell(platform).await;
    Ok(())
}

/// Another template counts for schedules made from now on.
pub async fn edit_hall(
    platform: &Platform,
    actor: UserId,
    hall: HallId,
    name: Option<Line<200>>,
    template: Option<SeatTemplate>,
) -> Result<()> {
    let plan = template.as_ref().map(SeatTemplate::plan).transpose()?;
    let capacity = plan.map(|plan| u32::try_from(plan.seats.len()).unwrap_or(u32::MAX));
    let name = name.map(String::from);
    let command = EditHall { actor, hall, name, template, capacity, now: platform.now() };
    platform.store.edit_hall(command).await?;
    platform.shelf.tell(platform).await;
    Ok(())
}

#[derive(Default)]
pub struct EventEdit {
    pub title: Option<Line<300>>,
    pub artist: Option<Line<200>>,
    pub description: Option<Prose<5000>>,
    pub transferable: Option<bool>,
}

pub async fn edit_event(
    platform: &Platform,
    actor: UserId,
    event: EventId,
    edit: EventEdit,
) -> Result<EventDetail> {
    let command = EditEvent {
        actor,
        event,
        title: edit.title.map(String::from),
        artist: edit.artist.map(String::from),
        description: edit.description.map(String::from),
        transferable: edit.transferable,
        now: platform.now(),
    };
    platform.store.edit_event(command).await?;
    forget_schedules(platform, event).await?;
    platform.shelf.tell(platform).await;
    show_any_event(platform, event).await
}

async fn forget_schedules(platform: &Platform, event: EventId) -> Result<()> {
    for schedule in platform.store.schedules_of(event).await? {
        platform.schedules.forget(schedule.schedule);
    }
    Ok(())
}

pub async fn change_schedule(
    platform: &Platform,
    actor: UserId,
    schedule: ScheduleId,
    change: ScheduleChange,
) -> Result<ScheduleView> {
    let now = platform.now();
    platform.store.change_schedule(ChangeSchedule { actor, schedule, change, now }).await?;
    platform.schedules.forget(schedule);
    platform.shelf.tell(platform).await;
    let record = platform.store.schedule(schedule).await?.ok_or(Refusal::NotFound)?;
    Ok(view_schedule(&record, now))
}

/// Nothing more is sold for this date, and the refund job gives everybody their money back.
pub async fn cancel_schedule(
    platform: &Platform,
    actor: UserId,
    schedule: ScheduleId,
) -> Result<ScheduleView> {
    let now = platform.now();
    platform.store.cancel_schedule(CancelSchedule { actor, schedule, now }).await?;
    platform.schedules.forget(schedule);
    platform.shelf.tell(platform).await;
    let record = platform.store.schedule(schedule).await?.ok_or(Refusal::NotFound)?;
    Ok(view_schedule(&record, now))
}

/// Takes back what was made by mistake; never something that fans rely on.
pub async fn remove(platform: &Platform, actor: UserId, what: Unwanted) -> Result<()> {
    platform.store.remove(Remove { actor, what, now: platform.now() }).await?;
    match what {
        Unwanted::Schedule(schedule) => platform.schedules.forget(schedule),
        Unwanted::Venue(_) | Unwanted::Hall(_) | Unwanted::Event(_) => {}
    }
    platform.shelf.tell(platform).await;
    Ok(())
}

/// What a template would make.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplatePreview {
    pub seats: u32,
    /// Seats of each grade.
    pub grades: BTreeMap<String, u32>,
    pub accessible: u32,
    pub companion: u32,
    pub restricted_view: u32,
    pub standing: u32,
    /// As fans would see it; the ids mean nothing yet.
    pub layout: LayoutView,
}

pub fn preview_template(template: &SeatTemplate) -> Result<TemplatePreview> {
    let plan = template.plan()?;
    let count = |is: fn(&domain::catalog::PlannedSeat) -> bool| {
        u32::try_from(plan.seats.iter().filter(|seat| is(seat)).count()).unwrap_or(u32::MAX)
    };
    let mut grades = BTreeMap::new();
    for seat in &plan.seats {
        *grades.entry(seat.grade.clone()).or_default() += 1;
    }
    Ok(TemplatePreview {
        seats: count(|_| true),
        grades,
        accessible: count(|seat| seat.accessible),
        companion: count(|seat| seat.companion),
        restricted_view: count(|seat| seat.restricted_view),
        standing: count(|seat| seat.standing),
        layout: view_layout(ScheduleId::new(Uuid::nil()), plan),
    })
}
