//! What organisers edit, remove and preview.

use crate::catalog::LayoutView;
use crate::catalog::cache::EventRecords;
use crate::catalog::port::{
    CancelSchedule, ChangeSchedule, EditEvent, EditHall, EditVenue, EventFilter, Remove, Unwanted,
    VenueRecord,
};
use crate::catalog::{EventDetail, EventView, ScheduleView, detail_of, view_layout, view_schedule};
use crate::context::AppContext;
use crate::error::Result;
use crate::payments::port::sales::EventSold;
use crate::store::{Page, PageRequest};
use podo_domain::catalog::text::{FieldError, Line};
use podo_domain::catalog::{EventEdit, SaleTerms, ScheduleChange, SeatTemplate};
use podo_domain::{EventId, HallId, Refusal, ScheduleId, UserId, VenueId};
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
    /// The IANA name of the time zone.
    pub time_zone: String,
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
pub async fn list_venues(context: &AppContext, page: PageRequest) -> Result<Page<VenueView>> {
    let venues = context.store.venues(page).await?;
    let views = venues.into_iter().map(view_venue).collect();
    Ok(Page::cut(views, page.limit, |venue: &VenueView| venue.id.uuid()))
}

fn view_venue(record: VenueRecord) -> VenueView {
    let halls = record.halls.into_iter();
    let hall = |hall: crate::catalog::port::HallRecord| HallView {
        id: hall.hall,
        name: hall.name,
        capacity: hall.capacity,
    };
    VenueView {
        id: record.venue,
        name: record.name,
        address: record.address,
        city: record.city,
        time_zone: record.time_zone,
        halls: halls.map(hall).collect(),
    }
}

pub async fn hall_template(context: &AppContext, hall: HallId) -> Result<SeatTemplate> {
    Ok(context.store.hall_template(hall).await?.ok_or(Refusal::NotFound)?)
}

/// Every event, including those that fans can't see yet.
pub async fn list_all_events(
    context: &AppContext,
    filter: EventFilter,
    page: PageRequest,
) -> Result<Page<EventLine>> {
    let events = context.store.events(filter, page).await?;
    let Page { items, next_cursor } =
        Page::cut(events, page.limit, |event: &EventView| event.id.uuid());
    let sold = context.store.events_sold(items.iter().map(|it| it.id).collect()).await?;
    let line = |(event, sold)| EventLine { event, sold };
    Ok(Page { items: items.into_iter().zip(sold).map(line).collect(), next_cursor })
}

/// An event as organisers see it in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventLine {
    #[serde(flatten)]
    pub event: EventView,
    #[serde(flatten)]
    pub sold: EventSold,
}

pub async fn show_any_event(context: &AppContext, event: EventId) -> Result<EventDetail> {
    let view = context.store.event(event).await?.ok_or(Refusal::NotFound)?;
    let schedules = context.store.schedules_of(event).await?;
    let records = EventRecords {
        event: view,
        schedules,
        refund_policy: context.store.refund_policy(event).await?.ok_or(Refusal::NotFound)?,
        gallery: context.store.gallery(event).await?,
        venue_address: context.store.venue_address(event).await?.unwrap_or_default(),
        interested: context.store.interest_in(event).await?,
    };
    Ok(detail_of(&records, context.now()))
}

/// Absent fields stay as they are.
#[derive(Default)]
pub struct VenueEdit {
    pub name: Option<Line<200>>,
    pub address: Option<Line<300>>,
    pub city: Option<Line<100>>,
    pub time_zone: Option<Line<64>>,
    pub announces: bool,
}

pub async fn edit_venue(
    context: &AppContext,
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
        time_zone: edit.time_zone.map(check_zone).transpose()?,
        announces: edit.announces,
        now: context.now(),
    };
    context.store.edit_venue(command).await?;
    context.catalog.cache.invalidate(context).await;
    Ok(())
}

pub(super) fn check_zone(name: Line<64>) -> Result<String> {
    let name = String::from(name);
    let is_known = jiff::tz::TimeZone::get(&name).is_ok();
    let problem = FieldError::NotAZone;
    if is_known { Ok(name) } else { Err(Refusal::Invalid { field: "timeZone", problem }.into()) }
}

/// A new template applies to schedules created from now on.
pub async fn edit_hall(
    context: &AppContext,
    actor: UserId,
    hall: HallId,
    name: Option<Line<200>>,
    template: Option<SeatTemplate>,
) -> Result<()> {
    let plan = template.as_ref().map(SeatTemplate::plan).transpose()?;
    let capacity = plan.map(|plan| u32::try_from(plan.seats.len()).unwrap_or(u32::MAX));
    let name = name.map(String::from);
    let command = EditHall { actor, hall, name, template, capacity, now: context.now() };
    context.store.edit_hall(command).await?;
    context.catalog.cache.invalidate(context).await;
    Ok(())
}

pub async fn edit_event(
    context: &AppContext,
    actor: UserId,
    event: EventId,
    edit: EventEdit,
) -> Result<EventDetail> {
    let home = context.rules.currency;
    if edit.currency.is_some() || edit.payment_methods.is_some() {
        let before = context.store.event(event).await?.ok_or(Refusal::NotFound)?;
        let before = SaleTerms { currency: before.currency, methods: before.payment_methods };
        context.refuse_uncharged(&before.change(&edit, false, home)?)?;
    }
    let command = EditEvent { actor, event, edit, home, now: context.now() };
    context.store.edit_event(command).await?;
    forget_schedules(context, event).await?;
    context.catalog.cache.invalidate(context).await;
    show_any_event(context, event).await
}

async fn forget_schedules(context: &AppContext, event: EventId) -> Result<()> {
    for schedule in context.store.schedules_of(event).await? {
        context.catalog.schedules.forget(schedule.schedule);
    }
    Ok(())
}

pub async fn change_schedule(
    context: &AppContext,
    actor: UserId,
    schedule: ScheduleId,
    change: ScheduleChange,
) -> Result<ScheduleView> {
    let now = context.now();
    context.store.change_schedule(ChangeSchedule { actor, schedule, change, now }).await?;
    context.catalog.schedules.forget(schedule);
    context.catalog.cache.invalidate(context).await;
    let record = context.store.schedule(schedule).await?.ok_or(Refusal::NotFound)?;
    Ok(view_schedule(&record, now))
}

/// Stops the sale of this date; the refund job refunds every payment.
pub async fn cancel_schedule(
    context: &AppContext,
    actor: UserId,
    schedule: ScheduleId,
) -> Result<ScheduleView> {
    let now = context.now();
    context.store.cancel_schedule(CancelSchedule { actor, schedule, now }).await?;
    context.catalog.schedules.forget(schedule);
    context.catalog.cache.invalidate(context).await;
    let record = context.store.schedule(schedule).await?.ok_or(Refusal::NotFound)?;
    Ok(view_schedule(&record, now))
}

/// Removes something created by mistake; never anything that fans rely on.
pub async fn remove(context: &AppContext, actor: UserId, what: Unwanted) -> Result<()> {
    context.store.remove(Remove { actor, what, now: context.now() }).await?;
    match what {
        Unwanted::Schedule(schedule) => context.catalog.schedules.forget(schedule),
        Unwanted::Venue(_) | Unwanted::Hall(_) | Unwanted::Event(_) => {}
    }
    context.catalog.cache.invalidate(context).await;
    Ok(())
}

/// What a template would create.
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
    /// As fans would see it; the ids are placeholders.
    pub layout: LayoutView,
}

pub fn preview_template(template: &SeatTemplate) -> Result<TemplatePreview> {
    let plan = template.plan()?;
    let count = |is: fn(&podo_domain::catalog::PlannedSeat) -> bool| {
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
