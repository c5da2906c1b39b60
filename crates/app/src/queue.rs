//! The waiting room: entering, asking where one stands, staying, leaving.

use crate::error::Result;
use crate::platform::Platform;
use crate::ports::catalog::ScheduleRecord;
use crate::ports::queue::Admission;
use crate::schedules::queue_rules;
use crate::tokens::{Said, Token};
use domain::catalog::EventStatus;
use domain::queue::{
    Entry, QueueCounts, QueueMode, QueueSettings, Standing, estimate_wait, poll_after_ms,
};
use domain::{Refusal, ScheduleId, Timestamp, UserId, draw};
use serde::Serialize;
use std::sync::Arc;
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

/// Where a fan stands, as the page shows it. Waits are in seconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueView {
    pub state: QueueState,
    pub position: u64,
    pub ahead: u64,
    pub behind: u64,
    pub estimated_wait: Option<u32>,
    pub estimated_wait_range: Option<[u32; 2]>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The place token: proof of this place, whatever happens to the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    pub now: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EntryView {
    pub entry_expires_at: Timestamp,
    pub extensions_left: u8,
}

/// How the order of the lobby is decided, for anybody to check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DrawView {
    pub opens_at: Timestamp,
    /// SHA-256 of the seed, published before the opening.
    pub seed_hash: String,
    /// The seed itself, after the opening.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// How many fans were drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawn: Option<u64>,
    pub recipe: &'static str,
}

const RECIPE: &str = "Shuffle 0..drawn by Fisher–Yates with 64-bit numbers from \
    SHA-256(seed || counter); `podo verify-draw` and docs/draw.md show every step.";

/// The schedule, if fans may queue for it at all.
async fn open_schedule(
    platform: &Platform,
    schedule: ScheduleId,
    now: Timestamp,
) -> Result<Arc<ScheduleRecord>> {
    let record = platform.schedules.get(&*platform.store, schedule, now).await?;
    if record.event_status != EventStatus::Open || record.times.sale_ends_at <= now {
        return Err(Refusal::SaleClosed.into());
    }
    Ok(record)
}

/// Enters the queue, or finds the fan where they are. A place token from before brings back its
/// place even when the engine has forgotten it.
pub async fn enter(
    platform: &Platform,
    fan: UserId,
    schedule: ScheduleId,
    place_token: Option<&str>,
) -> Result<QueueView> {
    let now = platform.now();
    let record = open_schedule(platform, schedule, now).await?;
    let rules = queue_rules(&record);
    let returning = place_token
        .and_then(|text| Token::read(text, &platform.seals))
        .filter(|token| token.user == fan && token.schedule == schedule)
        .and_then(|token| token.said.returning());
    let standing = platform.queue.enter(&rules, fan, returning, now).await?;
    if let Standing::Inside(entry) = standing {
        let admission = vec![Admission { fan, entry }];
        platform.store.record_admissions(schedule, admission, now).await?;
    }
    let mut view = view(platform, &record, fan, standing, now).await?;
    view.token = place_token_of(platform, schedule, fan, standing);
    Ok(view)
}

fn place_token_of(
    platform: &Platform,
    schedule: ScheduleId,
    user: UserId,
    standing: Standing,
) -> Option<String> {
    let said = match standing {
        Standing::Lobby { index, .. } => Said::Lobby { index },
        Standing::Waiting { number, .. } => Said::Place { number },
        Standing::Inside(entry) => Said::Place { number: entry.number },
        Standing::Expired | Standing::Absent => return None,
    };
    Some(Token { schedule, user, said }.issue(&platform.seals))
}

/// Whose place it is: the place token says so, or the log-in. Both must name the same fan.
pub fn fan_of(
    platform: &Platform,
    schedule: ScheduleId,
    caller: Option<UserId>,
    place_token: Option<&str>,
) -> std::result::Result<UserId, Refusal> {
    let Some(text) = place_token else { return caller.ok_or(Refusal::LoginRequired) };
    let token = Token::read(text, &platform.seals).ok_or(Refusal::PlaceTokenInvalid)?;
    let is_right = token.schedule == schedule
        && token.said.returning().is_some()
        && caller.is_none_or(|caller| caller == token.user);
    if is_right { Ok(token.user) } else { Err(Refusal::PlaceTokenInvalid) }
}

pub async fn status(platform: &Platform, fan: UserId, schedule: ScheduleId) -> Result<QueueView> {
    let now = platform.now();
    let record = platform.schedules.get(&*platform.store, schedule, now).await?;
    let standing = platform.queue.standing(&queue_rules(&record), fan, now).await?;
    match standing {
        Standing::Absent => Err(Refusal::NotInQueue.into()),
        Standing::Expired => Err(Refusal::EntryExpired.into()),
        Standing::Lobby { .. } | Standing::Waiting { .. } | Standing::Inside(_) => {
            view(platform, &record, fan, standing, now).await
        }
    }
}

async fn view(
    platform: &Platform,
    record: &ScheduleRecord,
    fan: UserId,
    standing: Standing,
    now: Timestamp,
) -> Result<QueueView> {
    let chance = platform.chance.number();
    let blank = QueueView {
        state: QueueState::Waiting,
        position: 0,
        ahead: 0,
        behind: 0,
        estimated_wait: None,
        estimated_wait_range: None,
        poll_after_ms: poll_after_ms(0, chance),
        can_enter: false,
        opens_at: None,
        entry_token: None,
        entry_expires_at: None,
        extensions_left: None,
        message: record.queue.message.clone(),
        token: None,
        now,
    };
    Ok(match standing {
        Standing::Lobby { n_gathered, .. } => QueueView {
            state: QueueState::Lobby,
            behind: n_gathered.saturating_sub(1),
            poll_after_ms: lobby_poll_ms(record, chance, now),
            opens_at: Some(record.times.sale_starts_at),
            ..blank
        },
        Standing::Waiting { ahead, behind, .. } => {
            let counts = platform.queue.counts(record.schedule, now).await?;
            let estimate = estimate_wait(ahead, outflow(&record.queue, &counts));
            QueueView {
                state: waiting_state(record.queue.mode),
                position: ahead + 1,
                ahead,
                behind,
                estimated_wait: estimate.as_ref().map(|it| it.seconds),
                estimated_wait_range: estimate.as_ref().map(|it| [it.low, it.high]),
                poll_after_ms: poll_after_ms(ahead, chance),
                ..blank
            }
        }
        Standing::Inside(entry) => inside(platform, record.schedule, fan, entry, blank),
        Standing::Expired | Standing::Absent => QueueView { state: QueueState::Expired, ..blank },
    })
}

fn inside(
    platform: &Platform,
    schedule: ScheduleId,
    user: UserId,
    entry: Entry,
    blank: QueueView,
) -> QueueView {
    let said = Said::Entry { number: entry.number };
    QueueView {
        state: QueueState::Admitted,
        can_enter: true,
        estimated_wait: Some(0),
        estimated_wait_range: Some([0, 0]),
        entry_token: Some(Token { schedule, user, said }.issue(&platform.seals)),
        entry_expires_at: Some(entry.expires_at),
        extensions_left: Some(entry.extensions_left),
        ..blank
    }
}

fn waiting_state(mode: QueueMode) -> QueueState {
    match mode {
        QueueMode::Closed => QueueState::Closed,
        QueueMode::Auto | QueueMode::Paused | QueueMode::Draining => QueueState::Waiting,
    }
}

/// How fast the line moves: as measured, or as set while nothing has been measured.
fn outflow(settings: &QueueSettings, counts: &QueueCounts) -> f64 {
    match settings.mode {
        QueueMode::Paused | QueueMode::Closed => 0.0,
        QueueMode::Auto | QueueMode::Draining if counts.admitted_per_second > 0.0 => {
            counts.admitted_per_second
        }
        QueueMode::Auto | QueueMode::Draining => f64::from(settings.admit_per_second),
    }
}

/// In the lobby there is nothing to learn until the opening, but everybody must hear of it.
fn lobby_poll_ms(record: &ScheduleRecord, chance: u64, now: Timestamp) -> u32 {
    let until_open = record.times.sale_starts_at.since(now).as_millis();
    let until_open = u32::try_from(until_open).unwrap_or(u32::MAX);
    poll_after_ms(u64::MAX, chance).min(until_open.saturating_add(chance as u32 % 1_000).max(500))
}

/// The fan's live entry for a booking call: the token must be ours, theirs and for this schedule,
/// and the entry alive.
pub async fn require_entry(
    platform: &Platform,
    fan: UserId,
    schedule: ScheduleId,
    entry_token: Option<&str>,
    now: Timestamp,
) -> Result<Entry> {
    let token = entry_token.and_then(|text| Token::read(text, &platform.seals));
    let token = token.filter(|token| token.user == fan && token.schedule == schedule);
    let Some(Said::Entry { number }) = token.map(|token| token.said) else {
        return Err(Refusal::EntryRequired.into());
    };
    let entry = platform.queue.entry(schedule, fan, now).await?;
    Ok(entry.filter(|entry| entry.number == number).ok_or(Refusal::EntryExpired)?)
}

pub async fn extend(platform: &Platform, fan: UserId, schedule: ScheduleId) -> Result<EntryView> {
    let now = platform.now();
    let record = open_schedule(platform, schedule, now).await?;
    let entry = platform.queue.extend(&queue_rules(&record), fan, now).await?;
    platform.store.record_extension(schedule, entry, now).await?;
    Ok(EntryView { entry_expires_at: entry.expires_at, extensions_left: entry.extensions_left })
}

pub async fn leave(platform: &Platform, fan: UserId, schedule: ScheduleId) -> Result<()> {
    let now = platform.now();
    let entry = platform.queue.entry(schedule, fan, now).await?;
    if let Some(entry) = entry {
        platform.store.end_entry(schedule, entry.number, "LEFT", now).await?;
    }
    platform.queue.leave(schedule, fan, now).await
}

pub async fn show_draw(platform: &Platform, schedule: ScheduleId) -> Result<DrawView> {
    let now = platform.now();
    let record = platform.schedules.get(&*platform.store, schedule, now).await?;
    let is_over = record.times.sale_starts_at <= now;
    let counts = platform.queue.counts(schedule, now).await?;
    Ok(DrawView {
        opens_at: record.times.sale_starts_at,
        seed_hash: hex(&draw::commitment(&record.draw_seed)),
        seed: is_over.then(|| hex(&record.draw_seed)),
        drawn: is_over.then_some(counts.drawn),
        recipe: RECIPE,
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
