//! The waiting room: entering, asking where one stands, staying, leaving.

use crate::error::{Error, Result};
use crate::platform::Platform;
use crate::ports::catalog::ScheduleRecord;
use crate::ports::queue::{Admission, Returning, Seen};
use crate::schedules::queue_rules;
use crate::tokens::{Said, Token};
use domain::catalog::EventStatus;
use domain::queue::{
    Entry, QueueMode, QueueRules, QueueSettings, Standing, estimate_wait, poll_after_ms,
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
    /// The waiting room is out of order for a moment: nobody moves, and everybody's place is kept.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The place token: proof of this place, whatever happens to the server. Told on entering,
    /// and whenever the caller brought no proof of it or an older one.
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

/// May fans queue for it at all?
fn is_on_sale(record: &ScheduleRecord, now: Timestamp) -> bool {
    record.event_status == EventStatus::Open && now < record.times.sale_ends_at
}

async fn open_schedule(
    platform: &Platform,
    schedule: ScheduleId,
    now: Timestamp,
) -> Result<Arc<ScheduleRecord>> {
    let record = platform.schedules.get(&*platform.store, schedule, now).await?;
    if is_on_sale(&record, now) { Ok(record) } else { Err(Refusal::SaleClosed.into()) }
}

/// Opens a waiting room that is new or was lost, with those who are inside by the store.
pub(crate) async fn open_room(
    platform: &Platform,
    schedule: ScheduleId,
    now: Timestamp,
) -> Result<()> {
    let entries = platform.store.live_entries(schedule, now).await?;
    platform.queue.restore(schedule, &entries, now).await
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
    let known = match proof_in(platform, fan, schedule, place_token) {
        Some(proof) => find_or_bring_back(platform, &rules, fan, proof, now).await?,
        None => Standing::Absent,
    };
    let standing = match known {
        Standing::Lobby { .. } | Standing::Waiting { .. } | Standing::Inside(_) => known,
        Standing::Absent | Standing::Expired => join(platform, &rules, fan, now).await?,
    };
    let seen = Seen { standing, is_live: true };
    let mut view = view(platform, &record, fan, seen, now).await?;
    view.token = place_token_of(platform, schedule, fan, standing);
    Ok(view)
}

/// The proof that a token of this fan for this schedule brings.
fn proof_in(
    platform: &Platform,
    fan: UserId,
    schedule: ScheduleId,
    place_token: Option<&str>,
) -> Option<Returning> {
    let token = Token::read(place_token?, &platform.seals)?;
    let is_theirs = token.user == fan && token.schedule == schedule;
    token.said.returning().filter(|_| is_theirs)
}

/// How often a room that is lost is opened before its engine counts as out of order.
const OPENINGS_MAX: u32 = 2;

async fn join(
    platform: &Platform,
    rules: &QueueRules,
    fan: UserId,
    now: Timestamp,
) -> Result<Standing> {
    for _ in 0..=OPENINGS_MAX {
        if let Some(standing) = platform.queue.enter(rules, fan, None, now).await? {
            record_entry(platform, rules.schedule, fan, standing, now).await?;
            return Ok(standing);
        }
        open_room(platform, rules.schedule, now).await?;
    }
    Err(Error::unavailable("the waiting room was lost again and again"))
}

async fn find_or_bring_back(
    platform: &Platform,
    rules: &QueueRules,
    fan: UserId,
    proof: Returning,
    now: Timestamp,
) -> Result<Standing> {
    let seen = platform.queue.standing(rules, fan, None, now).await?;
    if seen.standing == Standing::Absent {
        return bring_back(platform, rules, fan, proof, now).await;
    }
    Ok(seen.standing)
}

/// Gives a fan whom the engine does not know the place of their proof, if it was lost. The store
/// remembers who has been let in with it.
async fn bring_back(
    platform: &Platform,
    rules: &QueueRules,
    fan: UserId,
    proof: Returning,
    now: Timestamp,
) -> Result<Standing> {
    if was_let_in(platform, rules.schedule, fan, proof).await? {
        return Ok(Standing::Absent);
    }
    for _ in 0..=OPENINGS_MAX {
        if let Some(standing) = platform.queue.come_back(rules, fan, proof, now).await? {
            record_entry(platform, rules.schedule, fan, standing, now).await?;
            return Ok(standing);
        }
        open_room(platform, rules.schedule, now).await?;
    }
    Err(Error::unavailable("the waiting room was lost again and again"))
}

/// Most places of one fan that are looked through: entering again and again is limited.
const PLACES_MAX: u32 = 100;

async fn was_let_in(
    platform: &Platform,
    schedule: ScheduleId,
    fan: UserId,
    proof: Returning,
) -> Result<bool> {
    let places = platform.store.places_of(fan, PLACES_MAX).await?;
    Ok(places.iter().filter(|place| place.schedule == schedule).any(|place| match proof {
        Returning::Line { number } => place.number == number,
        // A fan's first place is the one in the lobby: whoever was let in at all had it.
        Returning::Lobby { .. } => true,
    }))
}

async fn record_entry(
    platform: &Platform,
    schedule: ScheduleId,
    fan: UserId,
    standing: Standing,
    now: Timestamp,
) -> Result<()> {
    let Standing::Inside(entry) = standing else { return Ok(()) };
    platform.store.record_admissions(schedule, vec![Admission { fan, entry }], now).await
}

fn place_token_of(
    platform: &Platform,
    schedule: ScheduleId,
    user: UserId,
    standing: Standing,
) -> Option<String> {
    said_of(standing).map(|said| Token { schedule, user, said }.issue(&platform.seals))
}

/// What the place token of this standing says.
fn said_of(standing: Standing) -> Option<Said> {
    match standing {
        Standing::Lobby { index, .. } => Some(Said::Lobby { index }),
        Standing::Waiting { number, .. } => Some(Said::Place { number }),
        Standing::Inside(entry) => Some(Said::Place { number: entry.number }),
        Standing::Expired | Standing::Absent => None,
    }
}

/// Who asks where they stand, and the proof of it that they bring.
#[derive(Clone, Copy, Debug)]
pub struct Asker {
    pub fan: UserId,
    pub proof: Option<Returning>,
}

/// Whose place it is: the place token says so, or the log-in. Both must name the same fan.
pub fn asker(
    platform: &Platform,
    schedule: ScheduleId,
    caller: Option<UserId>,
    place_token: Option<&str>,
) -> std::result::Result<Asker, Refusal> {
    let Some(text) = place_token else {
        return Ok(Asker { fan: caller.ok_or(Refusal::LoginRequired)?, proof: None });
    };
    let token = Token::read(text, &platform.seals).ok_or(Refusal::PlaceTokenInvalid)?;
    let is_right = token.schedule == schedule && caller.is_none_or(|caller| caller == token.user);
    match token.said.returning() {
        Some(proof) if is_right => Ok(Asker { fan: token.user, proof: Some(proof) }),
        Some(_) | None => Err(Refusal::PlaceTokenInvalid),
    }
}

/// Where the fan stands. Whom the engine forgot, their place token brings back.
pub async fn status(platform: &Platform, asker: Asker, schedule: ScheduleId) -> Result<QueueView> {
    let now = platform.now();
    let record = platform.schedules.get(&*platform.store, schedule, now).await?;
    let rules = queue_rules(&record);
    let mut seen = platform.queue.standing(&rules, asker.fan, asker.proof, now).await?;
    if let (Standing::Absent, Some(proof)) = (seen.standing, asker.proof)
        && is_on_sale(&record, now)
    {
        seen.standing = bring_back(platform, &rules, asker.fan, proof, now).await?;
    }
    let mut view = match seen.standing {
        Standing::Absent => return Err(Refusal::NotInQueue.into()),
        Standing::Expired => return Err(Refusal::EntryExpired.into()),
        Standing::Lobby { .. } | Standing::Waiting { .. } | Standing::Inside(_) => {
            view(platform, &record, asker.fan, seen, now).await?
        }
    };
    if proof_of(seen.standing) != asker.proof {
        view.token = place_token_of(platform, schedule, asker.fan, seen.standing);
    }
    Ok(view)
}

fn proof_of(standing: Standing) -> Option<Returning> {
    said_of(standing).and_then(Said::returning)
}

async fn view(
    platform: &Platform,
    record: &ScheduleRecord,
    fan: UserId,
    seen: Seen,
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
        paused: !seen.is_live,
        message: record.queue.message.clone(),
        token: None,
        now,
    };
    Ok(match seen.standing {
        Standing::Lobby { n_gathered, .. } => QueueView {
            state: QueueState::Lobby,
            behind: n_gathered.saturating_sub(1),
            poll_after_ms: lobby_poll_ms(record, chance, now),
            opens_at: Some(record.times.sale_starts_at),
            ..blank
        },
        Standing::Waiting { ahead, behind, .. } => {
            let outflow = match seen.is_live {
                true => {
                    outflow(&record.queue, platform.queue.pace(&queue_rules(record), now).await?)
                }
                false => 0.0,
            };
            let estimate = estimate_wait(ahead, outflow);
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
fn outflow(settings: &QueueSettings, pace: f64) -> f64 {
    match settings.mode {
        QueueMode::Paused | QueueMode::Closed => 0.0,
        QueueMode::Auto | QueueMode::Draining if pace > 0.0 => pace,
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

/// Gives up the place or the entry. A place that the engine forgot is given up too, when its token
/// is brought: otherwise the same token would bring it back.
pub async fn leave(
    platform: &Platform,
    fan: UserId,
    schedule: ScheduleId,
    place_token: Option<&str>,
) -> Result<()> {
    let now = platform.now();
    if let Some(proof) = proof_in(platform, fan, schedule, place_token) {
        let record = platform.schedules.get(&*platform.store, schedule, now).await?;
        find_or_bring_back(platform, &queue_rules(&record), fan, proof, now).await?;
    }
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
