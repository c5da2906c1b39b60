//! The waiting room: entering, asking where one stands, staying, leaving.

mod draw;
mod history;
mod knocks;
mod log;
mod openings;
mod progress;
mod view;
mod waits;

use crate::accounts::require_identity;
use crate::challenge::{Riddle, Wrong};
use crate::error::{Error, Result};
use crate::platform::Platform;
use crate::ports::catalog::ScheduleRecord;
use crate::ports::queue::{Admission, Returning, Seen, Survey};
use crate::ports::queue_history::{PlaceRecord, Places};
use crate::schedules::queue_rules;
use crate::sessions::Caller;
use crate::signals;
use crate::tokens::{Said, Token};
use domain::catalog::EventStatus;
use domain::queue::{Entry, PlaceNumber, QueueRules, Standing, slowed};
use domain::signals::SignalKind;
use domain::{Refusal, ScheduleId, SessionId, Timestamp, UserId};
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;
use view::{called_off, view};

pub use draw::{DrawView, show_draw};
pub use history::{PlaceView, my_places, places_in};
pub use knocks::Knocks;
pub use log::{FLUSH_EVERY, QueueEventView, QueueLogBuffer, flush_queue_log, queue_timeline};
pub use openings::Openings;
pub use progress::{Progress, Progresses, SeatsLeft};
pub use view::{ProgressView, QueueState, QueueView};
pub use waits::{WAIT_BUCKETS_S, Waits};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EntryView {
    pub entry_expires_at: Timestamp,
    pub extensions_left: u8,
}

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
    if record.is_canceled() {
        return Err(Refusal::ScheduleCanceled.into());
    }
    if is_on_sale(&record, now) { Ok(record) } else { Err(Refusal::SaleClosed.into()) }
}

/// Opens a waiting room that is new or was lost, all of it or its last writes, with what the store
/// knows of those who were let in.
pub(crate) async fn open_room(
    platform: &Platform,
    rules: &QueueRules,
    now: Timestamp,
) -> Result<()> {
    let Survey { epoch, survivors } = platform.queue.survey(rules.schedule, now).await?;
    let mut remembered = platform.store.remembered(rules.schedule, survivors, now).await?;
    remembered.epoch = Some(epoch);
    platform.queue.restore(rules, &remembered, now).await
}

/// Takes a step that needs an open room; whoever finds it closed opens it.
async fn in_open_room<T, F: Future<Output = Result<Option<T>>>>(
    platform: &Platform,
    rules: &QueueRules,
    now: Timestamp,
    step: impl Fn() -> F,
) -> Result<T> {
    let opening = platform.openings.of(rules.schedule);
    for _ in 0..=OPENINGS_MAX {
        let n_seen = opening.n_opened();
        if let Some(answer) = step().await? {
            return Ok(answer);
        }
        opening.once(n_seen, open_room(platform, rules, now)).await?;
    }
    Err(Error::unavailable("the waiting room was lost again and again"))
}

/// What the queue goes by now: as the organiser set it, slower while this node is unwell.
pub(crate) fn rules_now(platform: &Platform, record: &ScheduleRecord) -> QueueRules {
    let mut rules = queue_rules(record);
    if platform.rules.health_limits.is_some() {
        let rate = rules.settings.admit_per_second;
        rules.settings.admit_per_second = slowed(rate, platform.vitals.percent(platform.now()));
    }
    rules
}

/// Puts off whoever asks far faster than they are told to. Their place is kept.
pub fn check_pace(
    platform: &Platform,
    schedule: ScheduleId,
    fan: UserId,
) -> std::result::Result<(), Refusal> {
    if !platform.rules.limits_on {
        return Ok(());
    }
    let knocked = platform.knocks.take(schedule, fan, platform.now());
    knocked.map_err(|retry_after_s| Refusal::TooManyRequests { retry_after_s })
}

/// Enters the queue, or finds the fan where they are. A place token from before brings back its
/// place even when the engine has forgotten it.
pub async fn enter(
    platform: &Platform,
    asker: Asker,
    schedule: ScheduleId,
    answer: Option<&str>,
) -> Result<QueueView> {
    let now = platform.now();
    let record = open_schedule(platform, schedule, now).await?;
    let rules = rules_now(platform, &record);
    let fan = asker.fan;
    if rules.settings.identity_required {
        require_identity(platform, fan).await?;
    }
    let known = match asker.proof {
        Some(proof) => find_or_bring_back(platform, &rules, fan, proof, now).await?,
        None => Standing::Absent,
    };
    let standing = match known {
        Standing::Lobby { .. } | Standing::Waiting { .. } | Standing::Inside(_) => known,
        Standing::Absent | Standing::Expired => {
            ask_riddle(platform, &rules, fan, answer, now).await?;
            join(platform, &rules, fan, now).await?
        }
    };
    let seen = Seen { standing, is_live: true };
    let progress = platform.progress.get(platform, &record, now).await;
    let mut view = view(platform, (&record, &progress), asker, seen, now);
    view.token = place_token_of(platform, schedule, fan, standing);
    Ok(view)
}

/// Whoever comes new solves the schedule's riddle first, if it has one.
async fn ask_riddle(
    platform: &Platform,
    rules: &QueueRules,
    fan: UserId,
    answer: Option<&str>,
    now: Timestamp,
) -> Result<()> {
    let (schedule, bits) = (rules.schedule, rules.settings.challenge_bits);
    if bits == 0 {
        return Ok(());
    }
    let riddle = Riddle { schedule, fan, bits };
    let Err(wrong) = riddle.check(platform, answer, now) else { return Ok(()) };
    if wrong == Wrong::Forged {
        let reason = "An answer to the riddle that does not solve it".to_owned();
        signals::note(platform, (fan, schedule), SignalKind::ForgedAnswer, reason).await;
    }
    Err(riddle.refusal(platform, now).into())
}

/// How often a room that is lost is opened before its engine counts as out of order.
const OPENINGS_MAX: u32 = 2;

async fn join(
    platform: &Platform,
    rules: &QueueRules,
    fan: UserId,
    now: Timestamp,
) -> Result<Standing> {
    let enter = || platform.queue.enter(rules, fan, None, now);
    let standing = in_open_room(platform, rules, now, enter).await?;
    note_arrival(platform, rules.schedule, standing, now);
    log::note_joined(platform, (rules.schedule, fan), standing, now);
    record_entry(platform, rules.schedule, fan, standing, now).await?;
    Ok(standing)
}

/// For the wait that is measured when they are let in.
fn note_arrival(platform: &Platform, schedule: ScheduleId, standing: Standing, now: Timestamp) {
    let number = match standing {
        Standing::Waiting { number, .. } => number,
        Standing::Inside(entry) => entry.number,
        Standing::Lobby { .. } | Standing::Expired | Standing::Absent => return,
    };
    platform.waits.note_arrival(schedule, number, now);
}

async fn find_or_bring_back(
    platform: &Platform,
    rules: &QueueRules,
    fan: UserId,
    proof: Returning,
    now: Timestamp,
) -> Result<Standing> {
    let seen = platform.queue.standing(rules, fan, None, now).await?;
    if is_older_than(seen.standing, proof) {
        return bring_back_or_stay(platform, rules, (fan, proof), seen.standing, now).await;
    }
    Ok(seen.standing)
}

/// Is the fan not here, or at a place from before the one of their proof? Then the engine forgot
/// it: numbers and indexes only grow. Of an entry that is over nobody knows whether it was before.
fn is_older_than(standing: Standing, proof: Returning) -> bool {
    match (standing, proof) {
        (Standing::Absent | Standing::Expired, _) => true,
        (Standing::Waiting { number, .. }, Returning::Line { number: proved }) => number < proved,
        (Standing::Lobby { index, .. }, Returning::Lobby { index: proved }) => index < proved,
        (Standing::Waiting { .. } | Standing::Lobby { .. } | Standing::Inside(_), _) => false,
    }
}

/// Where the fan stands with the place of their proof, or without it when that one is not to be had.
async fn bring_back_or_stay(
    platform: &Platform,
    rules: &QueueRules,
    (fan, proof): (UserId, Returning),
    known: Standing,
    now: Timestamp,
) -> Result<Standing> {
    let standing = bring_back(platform, rules, fan, proof, now).await?;
    Ok(if standing == Standing::Absent { known } else { standing })
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
    if let Some(place) = let_in_with(platform, rules.schedule, fan, proof).await? {
        return bring_back_inside(platform, rules, &place, now).await;
    }
    let come_back = || platform.queue.come_back(rules, fan, proof, now);
    let standing = in_open_room(platform, rules, now, come_back).await?;
    record_entry(platform, rules.schedule, fan, standing, now).await?;
    Ok(standing)
}

/// Most places of one fan that are looked through: entering again and again is limited.
const PLACES_MAX: u32 = 100;

/// The place that the fan was let in with, if it is the one of their proof.
async fn let_in_with(
    platform: &Platform,
    schedule: ScheduleId,
    fan: UserId,
    proof: Returning,
) -> Result<Option<PlaceRecord>> {
    let asked = Places { schedule, fan: Some(fan), before: None, limit: PLACES_MAX };
    let places = platform.store.places_in(asked).await?;
    Ok(places.into_iter().find(|place| match proof {
        Returning::Line { number } => place.number == number,
        // A fan's first place is the one in the lobby: whoever was let in at all had it.
        Returning::Lobby { .. } => true,
    }))
}

/// The store may hear of an admission after a lost room was opened again without it: then the fan gets
/// the entry back while a slot is free, and waits at the entry's number for the next slot otherwise.
async fn bring_back_inside(
    platform: &Platform,
    rules: &QueueRules,
    place: &PlaceRecord,
    now: Timestamp,
) -> Result<Standing> {
    if !place.is_inside(now) {
        return Ok(Standing::Absent);
    }
    open_room(platform, rules, now).await?;
    let standing = platform.queue.standing(rules, place.user, None, now).await?.standing;
    if standing != Standing::Absent {
        return Ok(standing);
    }
    let proof = Returning::Line { number: place.number };
    let come_back = || platform.queue.come_back(rules, place.user, proof, now);
    let standing = in_open_room(platform, rules, now, come_back).await?;
    record_entry(platform, rules.schedule, place.user, standing, now).await?;
    Ok(standing)
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
    said_of(standing).map(|said| Token { schedule, user, said }.issue(platform.seals.tokens()))
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
    /// The log-in that an entry token would be for. A place token alone tells the place, but opens
    /// nothing.
    pub session: Option<SessionId>,
}

/// Whose place it is: the place token says so, or the log-in. Both must name the same fan.
pub fn asker(
    platform: &Platform,
    schedule: ScheduleId,
    caller: Option<Caller>,
    place_token: Option<&str>,
) -> std::result::Result<Asker, Refusal> {
    let session = caller.map(|caller| caller.session);
    let Some(text) = place_token else {
        let caller = caller.ok_or(Refusal::LoginRequired)?;
        return Ok(Asker { fan: caller.user, proof: None, session });
    };
    let token = Token::read(text, platform.seals.tokens()).ok_or(Refusal::PlaceTokenInvalid)?;
    let is_theirs = caller.is_none_or(|caller| caller.user == token.user);
    match token.said.returning() {
        Some(proof) if is_theirs && token.schedule == schedule => {
            Ok(Asker { fan: token.user, proof: Some(proof), session })
        }
        Some(_) | None => Err(Refusal::PlaceTokenInvalid),
    }
}

/// Where the fan stands, if that is known at once: no waiting, nobody else is asked.
pub fn status_now(
    platform: &Platform,
    asker: Asker,
    schedule: ScheduleId,
    now: Timestamp,
) -> Option<QueueView> {
    let Some(Returning::Line { number }) = asker.proof else { return None };
    let record = platform.schedules.at_hand(schedule, now)?;
    if record.is_canceled() {
        return Some(called_off(&record, asker, now));
    }
    let standing = platform.queue.standing_now(schedule, (number, asker.fan), now)?;
    let progress = platform.progress.at_hand(schedule, now).filter(|it| !it.is_away)?;
    let seen = Seen { standing, is_live: true };
    let view = view(platform, (&record, &progress), asker, seen, now);
    log::note_seen(platform, (schedule, asker.fan), standing, view.poll_after(), now);
    Some(view)
}

/// Where the fan stands. Whom the engine forgot, their place token brings back. A date that is called
/// off has no line any more: everybody hears the same, and no engine is asked.
pub async fn status(platform: &Platform, asker: Asker, schedule: ScheduleId) -> Result<QueueView> {
    let now = platform.now();
    if let Some(view) = status_now(platform, asker, schedule, now) {
        return Ok(view);
    }
    let record = platform.schedules.get(&*platform.store, schedule, now).await?;
    if record.is_canceled() {
        return Ok(called_off(&record, asker, now));
    }
    let progress = platform.progress.get(platform, &record, now).await;
    let rules = rules_now(platform, &record);
    let mut seen = platform.queue.standing(&rules, asker.fan, asker.proof, now).await?;
    if let Some(proof) = asker.proof
        && is_older_than(seen.standing, proof)
        && is_on_sale(&record, now)
    {
        let (who, known) = ((asker.fan, proof), seen.standing);
        seen.standing = bring_back_or_stay(platform, &rules, who, known, now).await?;
    }
    let mut view = match seen.standing {
        Standing::Absent => return Err(Refusal::NotInQueue.into()),
        Standing::Expired => return Err(Refusal::EntryExpired.into()),
        Standing::Lobby { .. } | Standing::Waiting { .. } | Standing::Inside(_) => {
            view(platform, (&record, &progress), asker, seen, now)
        }
    };
    log::note_seen(platform, (schedule, asker.fan), seen.standing, view.poll_after(), now);
    if proof_of(seen.standing) != asker.proof {
        view.token = place_token_of(platform, schedule, asker.fan, seen.standing);
    }
    Ok(view)
}

/// How the queue moves, the same for everybody.
pub async fn progress(platform: &Platform, schedule: ScheduleId) -> Result<ProgressView> {
    let now = platform.now();
    let record = platform.schedules.get(&*platform.store, schedule, now).await?;
    let progress = platform.progress.get(platform, &record, now).await;
    Ok(ProgressView::of(&record, &progress, now))
}

fn proof_of(standing: Standing) -> Option<Returning> {
    said_of(standing).and_then(Said::returning)
}

/// The number that an entry token proves: it must be ours, theirs, of this log-in and for this
/// schedule. Whether the entry is alive only the engine knows.
pub(crate) fn entry_number(
    platform: &Platform,
    fan: Caller,
    schedule: ScheduleId,
    entry_token: Option<&str>,
) -> std::result::Result<PlaceNumber, Refusal> {
    let token = entry_token.and_then(|text| Token::read(text, platform.seals.tokens()));
    let token = token.filter(|token| token.user == fan.user && token.schedule == schedule);
    match token.map(|token| token.said) {
        Some(Said::Entry { number, session }) if session == fan.session => Ok(number),
        Some(Said::Entry { .. } | Said::Lobby { .. } | Said::Place { .. }) | None => {
            Err(Refusal::EntryRequired)
        }
    }
}

/// The fan's live entry for a booking call.
pub async fn require_entry(
    platform: &Platform,
    fan: Caller,
    schedule: ScheduleId,
    entry_token: Option<&str>,
    now: Timestamp,
) -> Result<Entry> {
    let number = entry_number(platform, fan, schedule, entry_token)?;
    let entry = platform.queue.entry(schedule, fan.user, now).await?;
    Ok(entry.filter(|entry| entry.number == number).ok_or(Refusal::EntryExpired)?)
}

pub async fn extend(platform: &Platform, fan: UserId, schedule: ScheduleId) -> Result<EntryView> {
    let now = platform.now();
    let record = open_schedule(platform, schedule, now).await?;
    let entry = platform.queue.extend(&rules_now(platform, &record), fan, now).await?;
    platform.store.record_extension(schedule, entry, now).await?;
    Ok(EntryView { entry_expires_at: entry.expires_at, extensions_left: entry.extensions_left })
}

/// Gives up the place or the entry. A place that the engine forgot is given up too, when its token
/// is brought: otherwise the same token would bring it back.
pub async fn leave(platform: &Platform, asker: Asker, schedule: ScheduleId) -> Result<()> {
    let now = platform.now();
    let fan = asker.fan;
    if let Some(proof) = asker.proof {
        let record = platform.schedules.get(&*platform.store, schedule, now).await?;
        find_or_bring_back(platform, &rules_now(platform, &record), fan, proof, now).await?;
    }
    let entry = platform.queue.entry(schedule, fan, now).await?;
    if let Some(entry) = entry {
        platform.store.end_entry(schedule, entry.number, "LEFT", now).await?;
    }
    platform.queue.leave(schedule, fan, now).await?;
    if entry.is_none() {
        log::note_left(platform, schedule, fan, now);
    }
    Ok(())
}
