//! Admissions: who was admitted, until when, and how the entry ended; the course of a sale; the log
//! of events.

pub mod course;
pub(crate) mod log;

use crate::catalog::port::ScheduleRecord;
use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts;
use crate::identity::accounts::PersonHint;
use crate::store::{Order, Page};
use crate::waiting_room::port::history::{HistoryCursor, PlaceRecord, Places};
use crate::waiting_room::rules_now;
use podo_domain::waiting_room::{PlaceNumber, QueuePosition};
use podo_domain::{ScheduleId, Timestamp, UserId};
use serde::Serialize;
use utoipa::ToSchema;

/// One place of a fan: waiting, admitted or over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlaceView {
    pub schedule_id: ScheduleId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<UserId>,
    /// Absent in the lobby, where numbers haven't been drawn yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<PlaceNumber>,
    /// `LOBBY`, `WAITING`, `ACTIVE` or `EXPIRED`.
    pub state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activated_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions_left: Option<u8>,
    /// Why an entry ended: `PAID`, `LEFT`, `TIME_UP`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_reason: Option<String>,
}

/// A place with the person who has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlaceLine {
    #[serde(flatten)]
    pub place: PlaceView,
    /// Absent if the account was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<PersonHint>,
}

impl PlaceView {
    fn waiting(schedule_id: ScheduleId, state: &str, number: Option<PlaceNumber>) -> PlaceView {
        PlaceView {
            schedule_id,
            user_id: None,
            number,
            state: state.to_owned(),
            activated_at: None,
            expires_at: None,
            extensions_left: None,
            ended_reason: None,
        }
    }

    fn of(record: PlaceRecord) -> PlaceView {
        PlaceView {
            schedule_id: record.schedule.date(),
            user_id: Some(record.user),
            number: Some(record.number),
            state: record.state,
            activated_at: record.activated_at,
            expires_at: record.expires_at,
            extensions_left: Some(record.extensions_left),
            ended_reason: record.ended_reason,
        }
    }
}

/// A fan's own places, newest first: the current ones, then every admission.
pub async fn my_places(
    context: &AppContext,
    fan: UserId,
    before: Option<HistoryCursor>,
    limit: u32,
) -> Result<Page<PlaceView>> {
    let now = context.now();
    let asked = before.unwrap_or_else(|| HistoryCursor::newest(now));
    let mut rows = context.store.places_of(fan, asked, limit + 1).await?;
    let has_more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let cursor = |row: &PlaceRecord| format!("{}-{}", row.created_at.ms(), row.number);
    let next_cursor = rows.last().map(cursor).filter(|_| has_more);
    let mut items = match before {
        Some(_) => Vec::new(),
        None => waits_of(context, fan, now).await?,
    };
    items.extend(rows.into_iter().map(|row| PlaceView { user_id: None, ..PlaceView::of(row) }));
    Ok(Page { items, next_cursor })
}

/// The fan's current places. Only the live engine knows them.
async fn waits_of(context: &AppContext, fan: UserId, now: Timestamp) -> Result<Vec<PlaceView>> {
    let mut waits = Vec::new();
    let alive = context.store.schedules_alive(now).await?;
    for record in alive.iter().flat_map(ScheduleRecord::rooms) {
        let rules = rules_now(context, &record);
        let schedule = record.schedule.date();
        match context.waiting_room.queue.position(&rules, fan, None, now).await?.position {
            QueuePosition::Lobby { .. } => waits.push(PlaceView::waiting(schedule, "LOBBY", None)),
            QueuePosition::Waiting { number, .. } => {
                waits.push(PlaceView::waiting(schedule, "WAITING", Some(number)));
            }
            QueuePosition::Inside(_) | QueuePosition::Expired | QueuePosition::Absent => {}
        }
    }
    Ok(waits)
}

/// Which admissions an organiser looks at.
#[derive(Clone, Copy, Debug)]
pub struct PlacesAsked {
    /// Only this fan's.
    pub fan: Option<UserId>,
    pub order: Order,
    /// Only numbers beyond this one, in this order.
    pub cursor: Option<PlaceNumber>,
    pub limit: u32,
}

/// Admissions to a schedule by number.
pub async fn places_in(
    context: &AppContext,
    schedule: ScheduleId,
    asked: PlacesAsked,
) -> Result<Page<PlaceLine>> {
    let PlacesAsked { fan, order, cursor, limit } = asked;
    let record = context.store.schedule(schedule).await?;
    // On a date with phases: the admissions of the current one.
    let schedule = record.map_or(schedule, |record| record.room_at(context.now()));
    let asked = Places { schedule, fan, order, cursor, limit: limit + 1 };
    let mut rows = context.store.places_in(asked).await?;
    let has_more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let next_cursor = rows.last().map(|row| row.number.to_string()).filter(|_| has_more);
    let people = accounts::hints(context, rows.iter().map(|row| row.user)).await?;
    let line = |row: PlaceRecord| {
        let person = people.get(&row.user).cloned();
        PlaceLine { place: PlaceView::of(row), person }
    };
    Ok(Page { items: rows.into_iter().map(line).collect(), next_cursor })
}
