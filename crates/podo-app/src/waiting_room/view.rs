//! A fan's queue position as the API returns it.

use crate::catalog::port::ScheduleRecord;
use crate::context::AppContext;
use crate::waiting_room::port::queue::PositionSnapshot;
use crate::waiting_room::tokens::{Token, TokenClaims};
use crate::waiting_room::{Asker, Progress};
use podo_domain::waiting_room::{
    Entry, FAR_BACK, Outlook, PlaceNumber, QueueMode, QueuePosition, QueueSettings, estimate_wait,
    lobby_poll_after_ms, outlook, poll_after_ms,
};
use podo_domain::{ScheduleId, Timestamp, UserId};
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum QueueState {
    Lobby,
    Waiting,
    Admitted,
    Expired,
    Closed,
}

impl QueueView {
    /// How long the client waits before the next poll.
    pub(crate) fn poll_after(&self) -> Duration {
        Duration::from_millis(u64::from(self.poll_after_ms))
    }
}

/// A fan's position in the queue. Waits are in seconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueView {
    pub state: QueueState,
    /// The place number, which never changes; with it a client computes its position from the
    /// shared progress of the queue. Absent in the lobby, where numbers haven't been drawn yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<PlaceNumber>,
    pub position: u64,
    pub ahead: u64,
    pub behind: u64,
    pub estimated_wait: Option<u32>,
    pub estimated_wait_range: Option<[u32; 2]>,
    /// How likely it is that seats are left when the fan is admitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance: Option<Outlook>,
    pub poll_after_ms: u32,
    pub can_enter: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opens_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry_expires_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions_left: Option<u8>,
    /// Admission has stopped, because an organiser paused the room or the live engine is
    /// unavailable. Fans keep their places.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    /// The date is canceled: the room is closed, and payments are refunded.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub canceled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The message in English.
    #[serde(skip)]
    pub message_en: Option<String>,
    /// The place token: a signed proof of this place that survives a loss of the live engine.
    /// Present on entering, and whenever the caller presents no proof or an older one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    pub now: Timestamp,
}

/// Builds the answer for one fan.
pub(crate) fn view(
    context: &AppContext,
    record: &ScheduleRecord,
    progress: &Progress,
    asker: Asker,
    seen: PositionSnapshot,
    now: Timestamp,
) -> QueueView {
    let random = spread(asker.fan, now);
    let blank = blank(record, seen, random, now);
    match seen.position {
        QueuePosition::Lobby { n_gathered, .. } => QueueView {
            state: QueueState::Lobby,
            behind: n_gathered.saturating_sub(1),
            poll_after_ms: lobby_poll_after_ms(
                n_gathered,
                record.queue.admit_per_second,
                record.times.sale_starts_at.since(now),
                random,
            ),
            opens_at: Some(record.times.sale_starts_at),
            ..blank
        },
        QueuePosition::Waiting { number, ahead, behind } => {
            let pace = progress.counts.admitted_per_second;
            let outflow = if seen.is_live { outflow(&record.queue, pace) } else { 0.0 };
            let estimate = estimate_wait(ahead, outflow);
            QueueView {
                state: waiting_state(record.queue.mode),
                number: Some(number),
                position: ahead + 1,
                ahead,
                behind,
                estimated_wait: estimate.as_ref().map(|it| it.seconds),
                estimated_wait_range: estimate.as_ref().map(|it| [it.low, it.high]),
                chance: progress.seats.map(|seats| outlook(ahead, seats.available, seats.held)),
                poll_after_ms: poll_after_ms(ahead, record.queue.admit_per_second, random),
                paused: blank.paused || record.queue.mode == QueueMode::Paused,
                ..blank
            }
        }
        QueuePosition::Inside(entry) => inside(context, record.schedule, asker, entry, blank),
        QueuePosition::Expired | QueuePosition::Absent => {
            QueueView { state: QueueState::Expired, ..blank }
        }
    }
}

/// The answer to every fan of a canceled date.
pub(crate) fn called_off(record: &ScheduleRecord, asker: Asker, now: Timestamp) -> QueueView {
    let seen = PositionSnapshot { position: QueuePosition::Absent, is_live: true };
    let random = spread(asker.fan, now);
    QueueView {
        state: QueueState::Closed,
        canceled: true,
        poll_after_ms: poll_after_ms(FAR_BACK, u32::MAX, random),
        ..blank(record, seen, random, now)
    }
}

fn blank(
    record: &ScheduleRecord,
    seen: PositionSnapshot,
    random: u64,
    now: Timestamp,
) -> QueueView {
    QueueView {
        state: QueueState::Waiting,
        number: None,
        position: 0,
        ahead: 0,
        behind: 0,
        estimated_wait: None,
        estimated_wait_range: None,
        chance: None,
        poll_after_ms: poll_after_ms(0, u32::MAX, random),
        can_enter: false,
        opens_at: None,
        entry_token: None,
        entry_expires_at: None,
        extensions_left: None,
        paused: !seen.is_live,
        canceled: false,
        message: record.queue.message.clone(),
        message_en: record.queue.message_en.clone(),
        token: None,
        now,
    }
}

/// A value that differs by fan and moment. It only spreads polls, so it needn't be secret, and a
/// random generator would cost more than the rest of the answer.
fn spread(fan: UserId, now: Timestamp) -> u64 {
    let fan = (fan.uuid().as_u128() ^ (fan.uuid().as_u128() >> 64)) as u64;
    let mut mixed = fan ^ now.ms().cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn inside(
    context: &AppContext,
    schedule: ScheduleId,
    asker: Asker,
    entry: Entry,
    blank: QueueView,
) -> QueueView {
    let token = |session| {
        let claims = TokenClaims::Entry { number: entry.number, session };
        Token { schedule, user: asker.fan, claims }.issue(context.keyring.tokens())
    };
    QueueView {
        state: QueueState::Admitted,
        number: Some(entry.number),
        can_enter: true,
        estimated_wait: Some(0),
        estimated_wait_range: Some([0, 0]),
        entry_token: asker.session.map(token),
        entry_expires_at: Some(entry.expires_at),
        extensions_left: Some(entry.extensions_left),
        ..blank
    }
}

/// Progress of a queue, identical for every fan, so that shared caches can serve it.
///
/// A client computes its position from its place `number`: at most `number - admittedUpTo`, and at
/// most `waiting`. Fans who left in between make it smaller.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProgressView {
    pub mode: QueueMode,
    /// When the sale opens; until then fans gather in the lobby.
    pub opens_at: Timestamp,
    /// Fans in the lobby.
    pub gathered: u64,
    /// Every number up to this one has been admitted or has left.
    pub admitted_up_to: PlaceNumber,
    pub waiting: u64,
    /// Fans inside.
    pub active: u64,
    /// Admissions per second, measured over the last minute.
    pub outflow: f64,
    /// Seats available now; a hint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seats_left: Option<u32>,
    /// Admission has stopped, because an organiser paused the room or the live engine is
    /// unavailable. Fans keep their places.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    /// The date is canceled: `mode` is `CLOSED`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub canceled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_en: Option<String>,
    /// When to poll again; clients add jitter of their own.
    pub poll_after_ms: u32,
    pub now: Timestamp,
}

/// A shared answer is up to a second old, so polling more often returns nothing new.
const PROGRESS_EVERY_MS: u32 = 2_000;

impl ProgressView {
    pub(crate) fn of(record: &ScheduleRecord, progress: &Progress, now: Timestamp) -> ProgressView {
        let (settings, counts) = (&record.queue, progress.counts);
        ProgressView {
            mode: if record.is_canceled() { QueueMode::Closed } else { settings.mode },
            opens_at: record.times.sale_starts_at,
            gathered: counts.gathered,
            admitted_up_to: counts.front.saturating_sub(1),
            waiting: counts.waiting,
            active: counts.inside,
            outflow: counts.admitted_per_second,
            seats_left: progress.seats.map(|seats| seats.available),
            paused: progress.is_away || settings.mode == QueueMode::Paused,
            canceled: record.is_canceled(),
            message: settings.message.clone(),
            message_en: settings.message_en.clone(),
            poll_after_ms: PROGRESS_EVERY_MS,
            now,
        }
    }
}

fn waiting_state(mode: QueueMode) -> QueueState {
    match mode {
        QueueMode::Closed => QueueState::Closed,
        QueueMode::Auto | QueueMode::Paused | QueueMode::Draining => QueueState::Waiting,
    }
}

/// Admissions per second: measured, or the configured rate until there is a measurement.
fn outflow(settings: &QueueSettings, pace: f64) -> f64 {
    match settings.mode {
        QueueMode::Paused | QueueMode::Closed => 0.0,
        QueueMode::Auto | QueueMode::Draining if pace > 0.0 => pace,
        QueueMode::Auto | QueueMode::Draining => f64::from(settings.admit_per_second),
    }
}
