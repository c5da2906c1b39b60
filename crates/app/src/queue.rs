//! The waiting room: entering, asking where one stands, staying, leaving.

mod view;

use crate::error::{Error, Result};
use crate::platform::Platform;
use crate::ports::catalog::ScheduleRecord;
use crate::ports::queue::{Admission, Returning, Seen};
use crate::schedules::queue_rules;
use crate::tokens::{Said, Token};
use domain::catalog::EventStatus;
use domain::queue::{Entry, QueueRules, Standing};
use domain::{Refusal, ScheduleId, Timestamp, UserId, draw};
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;
use view::view;

pub use view::{QueueState, QueueView};

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
