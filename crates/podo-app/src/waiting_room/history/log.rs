//! Buffers waiting-room events and writes them to the store in batches. Enter and poll requests
//! never wait for it; when the buffer is full, events are dropped and counted.

use crate::context::AppContext;
use crate::error::Result;
use crate::store::Page;
use crate::waiting_room::port::history::{HistoryCursor, PlaceRecord};
use crate::waiting_room::port::log::QueueEventsOf;
use podo_domain::waiting_room::{
    PlaceNumber, QueueEvent, QueueEventKind, QueuePosition, is_seen_logged,
};
use podo_domain::{ScheduleId, Timestamp, UserId};
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use utoipa::ToSchema;
use uuid::Uuid;

/// Enough for a large opening; about 40 MB when full.
const CAPACITY: usize = 500_000;

/// Events per write; with the pause between batches, 2,000 events a second.
const BATCH: usize = 400;

pub const FLUSH_EVERY: Duration = Duration::from_millis(200);

/// Events of this node that aren't in the store yet.
#[derive(Default)]
pub struct QueueLogBuffer {
    events: Mutex<VecDeque<QueueEvent>>,
    n_dropped: AtomicU64,
    is_off: bool,
}

impl QueueLogBuffer {
    /// Discards every event if `is_off`.
    pub fn new(is_off: bool) -> QueueLogBuffer {
        QueueLogBuffer { is_off, ..QueueLogBuffer::default() }
    }

    pub fn n_dropped(&self) -> u64 {
        self.n_dropped.load(Ordering::Relaxed)
    }

    fn note(&self, event: QueueEvent) {
        if self.is_off {
            return;
        }
        let mut events = self.events.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if events.len() < CAPACITY {
            // The log is about dates: a phase's room has the date's entry.
            let schedule = event.schedule.date();
            events.push_back(QueueEvent { schedule, ..event });
        } else {
            self.n_dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn take(&self) -> Vec<QueueEvent> {
        let mut events = self.events.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let n_taken = events.len().min(BATCH);
        events.drain(..n_taken).collect()
    }

    fn put_back(&self, batch: Vec<QueueEvent>) {
        let mut events = self.events.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for event in batch.into_iter().rev() {
            events.push_front(event);
        }
    }
}

/// Logs the fan's position after joining.
pub(crate) fn note_joined(
    context: &AppContext,
    schedule: ScheduleId,
    user: UserId,
    position: QueuePosition,
    at: Timestamp,
) {
    let (kind, number, position) = match position {
        QueuePosition::Lobby { .. } => (QueueEventKind::JoinedLobby, None, None),
        QueuePosition::Waiting { number, ahead, .. } => {
            (QueueEventKind::Entered, Some(number), Some(ahead + 1))
        }
        QueuePosition::Inside(entry) => (QueueEventKind::Entered, Some(entry.number), None),
        QueuePosition::Expired | QueuePosition::Absent => return,
    };
    context.waiting_room.log.note(QueueEvent { schedule, user, kind, number, position, at });
}

/// Logs a waiting fan's poll, about once in ten minutes.
pub(crate) fn note_seen(
    context: &AppContext,
    schedule: ScheduleId,
    user: UserId,
    position: QueuePosition,
    poll_after: Duration,
    at: Timestamp,
) {
    if let QueuePosition::Waiting { number, ahead, .. } = position
        && is_seen_logged(user, poll_after, at)
    {
        let (kind, number) = (QueueEventKind::PositionSeen, Some(number));
        let position = Some(ahead + 1);
        context.waiting_room.log.note(QueueEvent { schedule, user, kind, number, position, at });
    }
}

pub(crate) fn note_left(context: &AppContext, schedule: ScheduleId, user: UserId, at: Timestamp) {
    let (kind, number, position) = (QueueEventKind::Left, None, None);
    context.waiting_room.log.note(QueueEvent { schedule, user, kind, number, position, at });
}

/// Writes one batch and returns whether there may be more. If the store fails, the events stay
/// buffered.
pub async fn flush_queue_log(context: &AppContext) -> Result<bool> {
    let batch = context.waiting_room.log.take();
    if batch.is_empty() {
        return Ok(false);
    }
    let is_full = batch.len() == BATCH;
    let written = context.store.append_queue_events(batch.clone(), context.now()).await;
    if let Err(error) = written {
        context.waiting_room.log.put_back(batch);
        return Err(error);
    }
    Ok(is_full)
}

/// One event of a fan's time in the waiting room.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueEventView {
    pub at: Timestamp,
    pub schedule_id: ScheduleId,
    pub kind: QueueEventKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<PlaceNumber>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// Why an entry ended: `PAID`, `LEFT`, `TIME_UP`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl QueueEventView {
    fn of(event: QueueEvent) -> QueueEventView {
        QueueEventView {
            at: event.at,
            schedule_id: event.schedule,
            kind: event.kind,
            number: event.number,
            position: event.position,
            reason: None,
        }
    }

    /// The admission of a place, and its end if it has ended.
    fn of_place(place: &PlaceRecord, now: Timestamp) -> Vec<QueueEventView> {
        let event = |kind, at, reason| QueueEventView {
            at,
            schedule_id: place.schedule,
            kind,
            number: Some(place.number),
            position: None,
            reason,
        };
        let mut events = Vec::new();
        if let Some(at) = place.activated_at {
            events.push(event(QueueEventKind::Admitted, at, None));
        }
        if let Some(at) = place.ended_at(now) {
            events.push(event(QueueEventKind::Ended, at, place.ended_reason.clone()));
        }
        events
    }
}

/// Upper bound on the admissions of one fan that a timeline page reads.
const PLACES_MAX: u32 = 100;

/// A fan's waiting-room events, newest first. The first page also has every admission in the store;
/// later pages continue in the log.
pub async fn queue_timeline(
    context: &AppContext,
    user: UserId,
    schedule: Option<ScheduleId>,
    before: Option<Uuid>,
    limit: u32,
) -> Result<Page<QueueEventView>> {
    let now = context.now();
    let asked = QueueEventsOf { user, schedule, before, limit: limit + 1 };
    let mut rows = context.store.queue_events(asked).await?;
    let has_more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let next_cursor = rows.last().map(|(id, _)| id.to_string()).filter(|_| has_more);
    let mut items: Vec<_> = rows.into_iter().map(|(_, event)| QueueEventView::of(event)).collect();
    if before.is_none() {
        let newest = HistoryCursor::newest(now);
        let places = context.store.places_of(user, newest, PLACES_MAX).await?;
        let asked = places.iter().filter(|place| schedule.is_none_or(|it| it == place.schedule));
        items.extend(asked.flat_map(|place| QueueEventView::of_place(place, now)));
    }
    items.sort_by_key(|event| std::cmp::Reverse((event.at, event.number, event.kind)));
    Ok(Page { items, next_cursor })
}
