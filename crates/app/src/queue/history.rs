//! Who was let in, until when, and how it ended.

use super::rules_now;
use crate::error::Result;
use crate::paging::Page;
use crate::platform::Platform;
use crate::ports::queue_history::{PlaceRecord, Places};
use domain::queue::{PlaceNumber, Standing};
use domain::{ScheduleId, Timestamp, UserId};
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;

/// One place of a fan: waiting, let in, or over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlaceView {
    pub schedule_id: ScheduleId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<UserId>,
    /// Not told in the lobby, where it is still to be drawn.
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
            schedule_id: record.schedule,
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

/// Later than anything that happened.
const AHEAD: Duration = Duration::from_secs(3_600);

/// A fan's own places, newest first: those where they wait now, then all to which they were let in.
pub async fn my_places(
    platform: &Platform,
    fan: UserId,
    before: Option<(Timestamp, PlaceNumber)>,
    limit: u32,
) -> Result<Page<PlaceView>> {
    let now = platform.now();
    let newest = (now.plus(AHEAD), 1 << 53);
    let asked = before.unwrap_or(newest);
    let mut rows = platform.store.places_of(fan, asked, limit + 1).await?;
    let has_more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let cursor = |row: &PlaceRecord| format!("{}-{}", row.created_at.ms(), row.number);
    let next_cursor = rows.last().map(cursor).filter(|_| has_more);
    let mut items = match before {
        Some(_) => Vec::new(),
        None => waits_of(platform, fan, now).await?,
    };
    items.extend(rows.into_iter().map(|row| PlaceView { user_id: None, ..PlaceView::of(row) }));
    Ok(Page { items, next_cursor })
}

/// Where the fan waits now: the live engines know, the store does not.
async fn waits_of(platform: &Platform, fan: UserId, now: Timestamp) -> Result<Vec<PlaceView>> {
    let mut waits = Vec::new();
    for record in platform.store.schedules_alive(now).await? {
        let rules = rules_now(platform, &record);
        let schedule = record.schedule;
        match platform.queue.standing(&rules, fan, None, now).await?.standing {
            Standing::Lobby { .. } => waits.push(PlaceView::waiting(schedule, "LOBBY", None)),
            Standing::Waiting { number, .. } => {
                waits.push(PlaceView::waiting(schedule, "WAITING", Some(number)));
            }
            Standing::Inside(_) | Standing::Expired | Standing::Absent => {}
        }
    }
    Ok(waits)
}

/// Everybody who was let in to a schedule, the latest numbers first; or one fan only.
pub async fn places_in(
    platform: &Platform,
    schedule: ScheduleId,
    fan: Option<UserId>,
    (before, limit): (Option<PlaceNumber>, u32),
) -> Result<Page<PlaceView>> {
    let asked = Places { schedule, fan, before, limit: limit + 1 };
    let mut rows = platform.store.places_in(asked).await?;
    let has_more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let next_cursor = rows.last().map(|row| row.number.to_string()).filter(|_| has_more);
    Ok(Page { items: rows.into_iter().map(PlaceView::of).collect(), next_cursor })
}
