//! Events as cards of a list: when they open, from which price, and what is left, in one request.

use crate::catalog::cache::EventRecords;
use crate::catalog::port::{EventFilter, ScheduleRecord};
use crate::catalog::{EventView, list_events};
use crate::context::AppContext;
use crate::error::Result;
use crate::store::{PAGE_MAX, Page, PageRequest};
use podo_domain::catalog::ScheduleStatus;
use podo_domain::catalog::suggestions::{matching, spelled};
use podo_domain::{EventId, ScheduleId, Timestamp, Won};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventCard {
    #[serde(flatten)]
    pub event: EventView,
    pub state: SaleState,
    /// The first and the last show that isn't canceled; absent without dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_starts_at: Option<Timestamp>,
    /// The lowest price of a seat, with its booking fee.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_from: Option<Won>,
    /// Seats of the dates that are on sale, and how many of them are available.
    pub seats: u32,
    pub seats_left: u32,
    /// How many fans want to be reminded of its openings or follow its artist.
    pub interested: u64,
    /// The openings ahead, the earliest first.
    pub openings: Vec<Opening>,
}

/// The sale of an event over all its dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SaleState {
    /// It has no dates, or all are canceled.
    NoDates,
    Upcoming,
    OnSale,
    /// No date on sale has an available seat.
    SoldOut,
    Ended,
}

/// A sale, or a phase of one, that opens later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Opening {
    pub schedule_id: ScheduleId,
    pub opens_at: Timestamp,
    pub starts_at: Timestamp,
    /// The phase that opens, in Korean and English; absent on a date without phases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase_en: Option<String>,
}

/// The public events as cards, if wanted only those with a seat up to a price. Everything comes from
/// this node's caches.
pub async fn list_cards(
    context: &AppContext,
    filter: EventFilter,
    price_max: Option<Won>,
    page: PageRequest,
) -> Result<Page<EventCard>> {
    let now = context.now();
    let is_cheap = |card: &EventCard| {
        price_max.is_none_or(|max| card.price_from.is_some_and(|price| price <= max))
    };
    let mut cards = Vec::new();
    let mut rest = page;
    for _ in 0..PAGES_LOOKED_AT_MAX {
        let found = list_events(context, filter.clone(), rest).await?;
        for event in found.items {
            let records = context.catalog.cache.event(context, event.id).await?;
            let left = seats_left(context, &records, now).await?;
            let card = card_of(event, &records.schedules, left, now);
            cards.push(EventCard { interested: records.interested, ..card });
        }
        cards.retain(is_cheap);
        let n_missing = page.limit.saturating_sub(u32::try_from(cards.len()).unwrap_or(u32::MAX));
        rest = PageRequest { limit: n_missing, after: cursor_of(found.next_cursor.as_deref()) };
        if n_missing == 0 || rest.after.is_none() {
            return Ok(Page { items: cards, next_cursor: found.next_cursor });
        }
    }
    Ok(Page { items: cards, next_cursor: rest.after.map(|id| id.to_string()) })
}

/// A price that few events have must not read the whole catalog: such a page can be short.
const PAGES_LOOKED_AT_MAX: u32 = 10;

fn cursor_of(cursor: Option<&str>) -> Option<Uuid> {
    cursor.and_then(|text| text.parse().ok())
}

/// Names that a fan may mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct SearchSuggestions {
    /// The best first.
    pub items: Vec<SearchSuggestion>,
    /// What a misspelt word should probably be; only if nothing matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spelling: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchSuggestion {
    /// An artist's name or an event's title.
    pub text: String,
    /// Present for an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_id: Option<EventId>,
}

const SUGGESTED_MAX: usize = 8;

/// Events whose names are suggested, the newest first.
const NAMED_MAX: usize = 500;

/// Artists and events of the public list that match a text, from this node's cache.
pub async fn suggest(context: &AppContext, text: &str) -> Result<SearchSuggestions> {
    let mut events: Vec<EventView> = Vec::new();
    let mut page = PageRequest { limit: PAGE_MAX, after: None };
    loop {
        let found = list_events(context, EventFilter::default(), page).await?;
        events.extend(found.items);
        page.after = cursor_of(found.next_cursor.as_deref());
        if page.after.is_none() || events.len() >= NAMED_MAX {
            break;
        }
    }
    let artists = events.iter().map(|event| event.artist.as_str());
    let titles = events.iter().map(|event| event.title.as_str());
    let names: Vec<&str> = artists.chain(titles).collect();
    let suggestion = |name: &str| {
        let is_artist = events.iter().any(|event| event.artist == name);
        let event = events.iter().find(|event| !is_artist && event.title == name);
        SearchSuggestion { text: name.to_owned(), event_id: event.map(|event| event.id) }
    };
    let items: Vec<SearchSuggestion> =
        matching(text, &names, SUGGESTED_MAX).into_iter().map(suggestion).collect();
    let spelling = match items.is_empty() {
        true => spelled(text, &names).map(str::to_owned),
        false => None,
    };
    Ok(SearchSuggestions { items, spelling })
}

async fn seats_left(context: &AppContext, records: &EventRecords, now: Timestamp) -> Result<u32> {
    let mut sum = 0;
    for schedule in records.schedules.iter().filter(|it| is_on_sale(it, now)) {
        let snapshot = context.booking.seat_maps.snapshot(context, schedule.schedule).await?;
        sum += snapshot.left.values().sum::<u32>();
    }
    Ok(sum)
}

fn is_on_sale(schedule: &ScheduleRecord, now: Timestamp) -> bool {
    schedule.status.at(&schedule.times, now) == ScheduleStatus::Ongoing
}

fn card_of(
    event: EventView,
    schedules: &[ScheduleRecord],
    seats_left: u32,
    now: Timestamp,
) -> EventCard {
    let dates: Vec<&ScheduleRecord> = schedules
        .iter()
        .filter(|it| it.status.at(&it.times, now) != ScheduleStatus::Cancelled)
        .collect();
    let on_sale = || dates.iter().filter(|it| is_on_sale(it, now));
    let has_opening = dates.iter().any(|it| now < it.times.sale_starts_at);
    let state = match on_sale().count() {
        _ if dates.is_empty() => SaleState::NoDates,
        0 if has_opening => SaleState::Upcoming,
        0 => SaleState::Ended,
        _ if seats_left == 0 => SaleState::SoldOut,
        _ => SaleState::OnSale,
    };
    let starts = || dates.iter().map(|it| it.times.starts_at);
    let mut openings: Vec<Opening> = dates.iter().flat_map(|it| openings_of(it, now)).collect();
    openings.sort_by_key(|it| it.opens_at);
    EventCard {
        event,
        state,
        starts_at: starts().min(),
        last_starts_at: starts().max(),
        price_from: dates.iter().filter_map(|it| price_from(it, now)).min(),
        seats: on_sale().map(|it| it.n_seats).sum(),
        seats_left,
        interested: 0,
        openings,
    }
}

/// What a fan pays at least, fee included.
fn price_from(date: &ScheduleRecord, now: Timestamp) -> Option<Won> {
    let price = date.prices_at(now).values().min().copied()?;
    let fee = date.options.fees.booking.map_or(Won::ZERO, |fee| fee.amount);
    price.checked_add(fee)
}

fn openings_of(date: &ScheduleRecord, now: Timestamp) -> Vec<Opening> {
    let opening = |opens_at, phase, phase_en| Opening {
        schedule_id: date.schedule,
        opens_at,
        starts_at: date.times.starts_at,
        phase,
        phase_en,
    };
    let all: Vec<Opening> = match date.phases.as_slice() {
        [] => vec![opening(date.times.sale_starts_at, None, None)],
        phases => phases
            .iter()
            .map(|phase| {
                let terms = &phase.terms;
                let (name, name_en) = (terms.name.clone(), terms.name_en.clone());
                opening(terms.window.starts_at, Some(name), Some(name_en))
            })
            .collect(),
    };
    all.into_iter().filter(|it| now < it.opens_at).collect()
}
