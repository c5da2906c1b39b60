//! The waiting room: enter, poll, extend, leave.

mod draw;
pub mod history;
pub mod jobs;
mod poll_rate_limiter;
pub mod port;
mod progress;
pub mod proof_of_work;
mod rooms;
pub mod tokens;
mod view;
mod waits;

use crate::catalog::phases::require_eligible;
use crate::catalog::port::ScheduleRecord;
use crate::catalog::schedules::queue_rules;
use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts::require_identity;
use crate::identity::bot_signals;
use crate::identity::sessions::Caller;
use crate::store::Order;
use crate::waiting_room::port::history::{PlaceRecord, Places};
use crate::waiting_room::port::queue::{Admission, FanPlace, PlaceProof, PositionSnapshot};
use crate::waiting_room::proof_of_work::{ProofOfWork, Wrong};
use crate::waiting_room::tokens::{Token, TokenClaims};
use podo_domain::catalog::EventStatus;
use podo_domain::identity::bot_signals::SignalKind;
use podo_domain::waiting_room::{Entry, PlaceNumber, QueuePosition, QueueRules, slowed};
use podo_domain::{PhaseId, Refusal, ScheduleId, SessionId, Timestamp, UserId};
use rooms::{current_room, in_open_room, named_room, room_of};
use serde::Serialize;
use utoipa::ToSchema;
use view::{called_off, view};

pub use draw::{DrawView, show_draw};
pub use history::log::{
    FLUSH_EVERY, QueueEventView, QueueLogBuffer, flush_queue_log, queue_timeline,
};
pub use history::{PlaceLine, PlaceView, PlacesAsked, my_places, places_in};
pub use poll_rate_limiter::PollRateLimiter;
pub use progress::{Progress, Progresses, SeatsLeft};
pub use rooms::Openings;
pub(crate) use rooms::open_room;
pub use view::{ProgressView, QueueState, QueueView};
pub use waits::{WAIT_BUCKETS_S, Waits};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EntryView {
    pub entry_expires_at: Timestamp,
    pub extensions_left: u8,
}

/// Whether fans can queue for this schedule.
fn is_on_sale(record: &ScheduleRecord, now: Timestamp) -> bool {
    record.event_status == EventStatus::Open && now < record.times.sale_ends_at
}

fn refuse_closed(record: &ScheduleRecord, now: Timestamp) -> std::result::Result<(), Refusal> {
    if record.is_canceled() {
        return Err(Refusal::ScheduleCanceled);
    }
    if is_on_sale(record, now) { Ok(()) } else { Err(Refusal::SaleClosed) }
}

/// The organiser's settings, with a lower admission rate while the nodes are overloaded.
pub(crate) fn rules_now(context: &AppContext, record: &ScheduleRecord) -> QueueRules {
    let mut rules = queue_rules(record);
    if context.rules.health_limits.is_some() {
        let rate = rules.settings.admit_per_second;
        rules.settings.admit_per_second =
            slowed(rate, context.operations.latency_window.percent(context.now()));
    }
    rules
}

/// Rate limits fans who poll far faster than `pollAfterMs`. They keep their place.
pub fn check_pace(
    context: &AppContext,
    schedule: ScheduleId,
    fan: UserId,
) -> std::result::Result<(), Refusal> {
    if !context.rules.limits_on {
        return Ok(());
    }
    let taken = context.waiting_room.poll_rate_limiter.take(schedule, fan, context.now());
    taken.map_err(|retry_after_s| Refusal::TooManyRequests { retry_after_s })
}

/// Enters the queue, or returns the fan's position. A place token restores a lost place.
pub async fn enter(context: &AppContext, asker: Asker, answer: Option<&str>) -> Result<QueueView> {
    let now = context.now();
    let (record, asker) = room_of(context, asker, now).await?;
    refuse_closed(&record, now)?;
    let rules = rules_now(context, &record);
    let fan = asker.fan;
    if rules.settings.identity_required {
        require_identity(context, fan).await?;
    }
    if let Some(phase) = record.phase() {
        require_eligible(context, fan, phase).await?;
    }
    let known = match asker.proof {
        Some(proof) => find_or_bring_back(context, &rules, fan, proof, now).await?,
        None => QueuePosition::Absent,
    };
    let position = match known {
        QueuePosition::Lobby { .. } | QueuePosition::Waiting { .. } | QueuePosition::Inside(_) => {
            known
        }
        QueuePosition::Absent | QueuePosition::Expired => {
            require_proof_of_work(context, &rules, fan, answer, now).await?;
            join(context, &rules, fan, now).await?
        }
    };
    let seen = PositionSnapshot { position, is_live: true };
    let progress = context.waiting_room.progress.get(context, &record, now).await;
    let mut view = view(context, &record, &progress, asker, seen, now);
    view.token = place_token_of(context, record.schedule, fan, position);
    Ok(view)
}

/// New arrivals solve a proof of work first, if the schedule requires one.
async fn require_proof_of_work(
    context: &AppContext,
    rules: &QueueRules,
    fan: UserId,
    answer: Option<&str>,
    now: Timestamp,
) -> Result<()> {
    let (schedule, bits) = (rules.schedule, rules.settings.challenge_bits);
    if bits == 0 {
        return Ok(());
    }
    let proof_of_work = ProofOfWork { schedule, fan, bits };
    let Err(wrong) = proof_of_work.check(context, answer, now) else { return Ok(()) };
    if wrong == Wrong::Forged {
        let reason = "A proof of work that does not verify".to_owned();
        bot_signals::note(context, fan, schedule.date(), SignalKind::ForgedAnswer, reason).await;
    }
    Err(proof_of_work.refusal(context, now).into())
}

async fn join(
    context: &AppContext,
    rules: &QueueRules,
    fan: UserId,
    now: Timestamp,
) -> Result<QueuePosition> {
    let enter = || context.waiting_room.queue.enter(rules, fan, None, now);
    let position = in_open_room(context, rules, now, enter).await?;
    note_arrival(context, rules.schedule, position, now);
    history::log::note_joined(context, rules.schedule, fan, position, now);
    record_entry(context, rules.schedule, fan, position, now).await?;
    Ok(position)
}

/// Records the arrival, so that the wait can be measured on admission.
fn note_arrival(
    context: &AppContext,
    schedule: ScheduleId,
    position: QueuePosition,
    now: Timestamp,
) {
    let number = match position {
        QueuePosition::Waiting { number, .. } => number,
        QueuePosition::Inside(entry) => entry.number,
        QueuePosition::Lobby { .. } | QueuePosition::Expired | QueuePosition::Absent => return,
    };
    context.waiting_room.waits.note_arrival(schedule, number, now);
}

async fn find_or_bring_back(
    context: &AppContext,
    rules: &QueueRules,
    fan: UserId,
    proof: PlaceProof,
    now: Timestamp,
) -> Result<QueuePosition> {
    let seen = context.waiting_room.queue.position(rules, fan, None, now).await?;
    if is_older_than(seen.position, proof) {
        return bring_back_or_stay(context, rules, fan, proof, seen.position, now).await;
    }
    Ok(seen.position)
}

/// Whether the fan is absent, or at an older place than the one they prove. Numbers and indexes
/// only grow, so the engine has lost the newer place. An expired entry counts as older, because its
/// age relative to the proof is unknown.
fn is_older_than(position: QueuePosition, proof: PlaceProof) -> bool {
    match (position, proof) {
        (QueuePosition::Absent | QueuePosition::Expired, _) => true,
        (QueuePosition::Waiting { number, .. }, PlaceProof::Line { number: proved }) => {
            number < proved
        }
        (QueuePosition::Lobby { index, .. }, PlaceProof::Lobby { index: proved }) => index < proved,
        (
            QueuePosition::Waiting { .. } | QueuePosition::Lobby { .. } | QueuePosition::Inside(_),
            _,
        ) => false,
    }
}

/// Restores the proven place; keeps the known position if that place can't be restored.
async fn bring_back_or_stay(
    context: &AppContext,
    rules: &QueueRules,
    fan: UserId,
    proof: PlaceProof,
    known: QueuePosition,
    now: Timestamp,
) -> Result<QueuePosition> {
    let position = bring_back(context, rules, fan, proof, now).await?;
    Ok(if position == QueuePosition::Absent { known } else { position })
}

/// Restores a fan whom the engine lost: to the proven place, or inside if it was admitted.
async fn bring_back(
    context: &AppContext,
    rules: &QueueRules,
    fan: UserId,
    proof: PlaceProof,
    now: Timestamp,
) -> Result<QueuePosition> {
    if let Some(place) = let_in_with(context, rules.schedule, fan, proof).await? {
        return bring_back_inside(context, rules, &place, now).await;
    }
    let come_back = || context.waiting_room.queue.come_back(rules, fan, proof, now);
    let position = in_open_room(context, rules, now, come_back).await?;
    record_entry(context, rules.schedule, fan, position, now).await?;
    Ok(position)
}

/// Upper bound on one fan's places to search; rate limits keep the real number small.
const PLACES_MAX: u32 = 100;

/// The fan's admission with the proven place, if there is one.
async fn let_in_with(
    context: &AppContext,
    schedule: ScheduleId,
    fan: UserId,
    proof: PlaceProof,
) -> Result<Option<PlaceRecord>> {
    let order = Order::Newest;
    let asked = Places { schedule, fan: Some(fan), order, cursor: None, limit: PLACES_MAX };
    let places = context.store.places_in(asked).await?;
    Ok(places.into_iter().find(|place| match proof {
        PlaceProof::Line { number } => place.number == number,
        // A lobby place is always a fan's first place, so any admission used it.
        PlaceProof::Lobby { .. } => true,
    }))
}

/// An admission can reach the store after a lost room was opened without it. The fan then gets the
/// entry back if a slot is free; otherwise they wait at the entry's number for the next slot.
async fn bring_back_inside(
    context: &AppContext,
    rules: &QueueRules,
    place: &PlaceRecord,
    now: Timestamp,
) -> Result<QueuePosition> {
    if !place.is_inside(now) {
        return Ok(QueuePosition::Absent);
    }
    open_room(context, rules, now).await?;
    let position =
        context.waiting_room.queue.position(rules, place.user, None, now).await?.position;
    if position != QueuePosition::Absent {
        return Ok(position);
    }
    let proof = PlaceProof::Line { number: place.number };
    let come_back = || context.waiting_room.queue.come_back(rules, place.user, proof, now);
    let position = in_open_room(context, rules, now, come_back).await?;
    record_entry(context, rules.schedule, place.user, position, now).await?;
    Ok(position)
}

async fn record_entry(
    context: &AppContext,
    schedule: ScheduleId,
    fan: UserId,
    position: QueuePosition,
    now: Timestamp,
) -> Result<()> {
    let QueuePosition::Inside(entry) = position else { return Ok(()) };
    context.store.record_admissions(schedule, vec![Admission { fan, entry }], now).await
}

fn place_token_of(
    context: &AppContext,
    schedule: ScheduleId,
    user: UserId,
    position: QueuePosition,
) -> Option<String> {
    claims_of(position)
        .map(|claims| Token { schedule, user, claims }.issue(context.keyring.tokens()))
}

fn claims_of(position: QueuePosition) -> Option<TokenClaims> {
    match position {
        QueuePosition::Lobby { index, .. } => Some(TokenClaims::Lobby { index }),
        QueuePosition::Waiting { number, .. } => Some(TokenClaims::Place { number }),
        QueuePosition::Inside(entry) => Some(TokenClaims::Place { number: entry.number }),
        QueuePosition::Expired | QueuePosition::Absent => None,
    }
}

/// The fan who polls, and their proof of a place.
#[derive(Clone, Copy, Debug)]
pub struct Asker {
    pub fan: UserId,
    pub proof: Option<PlaceProof>,
    /// The waiting room of the place token; without one the schedule itself.
    pub room: ScheduleId,
    /// The session that an entry token is bound to. A place token alone grants no entry.
    pub session: Option<SessionId>,
}

/// Identifies the fan by place token, by session, or by both if they name the same fan.
pub fn asker(
    context: &AppContext,
    schedule: ScheduleId,
    caller: Option<Caller>,
    place_token: Option<&str>,
) -> std::result::Result<Asker, Refusal> {
    let session = caller.map(|caller| caller.session);
    let Some(text) = place_token else {
        let caller = caller.ok_or(Refusal::LoginRequired)?;
        return Ok(Asker { fan: caller.user, proof: None, room: schedule, session });
    };
    let token = Token::read(text, context.keyring.tokens()).ok_or(Refusal::PlaceTokenInvalid)?;
    let is_theirs = caller.is_none_or(|caller| caller.user == token.user);
    match token.claims.place_proof() {
        Some(proof) if is_theirs && token.schedule.date() == schedule => {
            Ok(Asker { fan: token.user, proof: Some(proof), room: token.schedule, session })
        }
        Some(_) | None => Err(Refusal::PlaceTokenInvalid),
    }
}

/// The fan in the waiting room that they mean: the token's, or that of the running or next phase.
pub async fn resolve(context: &AppContext, asker: Asker) -> Result<Asker> {
    Ok(room_of(context, asker, context.now()).await?.1)
}

/// The same fan in the waiting room of this phase. A place of another room proves nothing there.
pub async fn in_phase(context: &AppContext, asker: Asker, phase: PhaseId) -> Result<Asker> {
    let (room, now) = (phase.room(), context.now());
    if room.date() != asker.room.date() {
        return Err(Refusal::NotFound.into());
    }
    let record = context.catalog.schedules.room(&*context.store, room, now).await?;
    refuse_closed(&*record.ok_or(Refusal::NotFound)?, now)?;
    let proof = asker.proof.filter(|_| asker.room == room);
    Ok(Asker { room, proof, ..asker })
}

/// The fan's position, if it's cached: no I/O.
pub fn status_now(
    context: &AppContext,
    asker: Asker,
    schedule: ScheduleId,
    now: Timestamp,
) -> Option<QueueView> {
    let Some(PlaceProof::Line { number }) = asker.proof else { return None };
    let record = context.catalog.schedules.cached_room(asker.room, now)?;
    if record.is_canceled() {
        return Some(called_off(&record, asker, now));
    }
    if record.phase().is_some_and(|phase| phase.is_over(now)) {
        return None;
    }
    let (room, fan) = (record.schedule, asker.fan);
    let position =
        context.waiting_room.queue.cached_position(room, FanPlace { number, fan }, now)?;
    let progress = context.waiting_room.progress.cached(room, now).filter(|it| !it.is_away)?;
    let seen = PositionSnapshot { position, is_live: true };
    let view = view(context, &record, &progress, asker, seen, now);
    history::log::note_seen(context, schedule, asker.fan, position, view.poll_after(), now);
    Some(view)
}

/// The fan's position. A place token restores a place that the engine lost. For a canceled date
/// every fan gets the same answer and no engine is queried.
pub async fn status(context: &AppContext, asker: Asker, schedule: ScheduleId) -> Result<QueueView> {
    let now = context.now();
    if let Some(view) = status_now(context, asker, schedule, now) {
        return Ok(view);
    }
    let (record, asker) = room_of(context, asker, now).await?;
    if record.is_canceled() {
        return Ok(called_off(&record, asker, now));
    }
    let progress = context.waiting_room.progress.get(context, &record, now).await;
    let rules = rules_now(context, &record);
    let mut seen = context.waiting_room.queue.position(&rules, asker.fan, asker.proof, now).await?;
    if let Some(proof) = asker.proof
        && is_older_than(seen.position, proof)
        && is_on_sale(&record, now)
    {
        seen.position =
            bring_back_or_stay(context, &rules, asker.fan, proof, seen.position, now).await?;
    }
    let mut view = match seen.position {
        QueuePosition::Absent => return Err(Refusal::NotInQueue.into()),
        QueuePosition::Expired => return Err(Refusal::EntryExpired.into()),
        QueuePosition::Lobby { .. } | QueuePosition::Waiting { .. } | QueuePosition::Inside(_) => {
            view(context, &record, &progress, asker, seen, now)
        }
    };
    history::log::note_seen(context, schedule, asker.fan, seen.position, view.poll_after(), now);
    if proof_of(seen.position) != asker.proof {
        view.token = place_token_of(context, record.schedule, asker.fan, seen.position);
    }
    Ok(view)
}

/// Progress of the queue, identical for every fan.
pub async fn progress(context: &AppContext, schedule: ScheduleId) -> Result<ProgressView> {
    let now = context.now();
    let record = named_room(context, schedule, now).await?;
    let progress = context.waiting_room.progress.get(context, &record, now).await;
    Ok(ProgressView::of(&record, &progress, now))
}

fn proof_of(position: QueuePosition) -> Option<PlaceProof> {
    claims_of(position).and_then(TokenClaims::place_proof)
}

/// The number that an entry token proves, and its waiting room. The token must be genuine and belong
/// to this fan, session and schedule. Only the engine knows whether the entry is still live.
pub(crate) fn entry_number(
    context: &AppContext,
    fan: Caller,
    schedule: ScheduleId,
    entry_token: Option<&str>,
) -> std::result::Result<(PlaceNumber, ScheduleId), Refusal> {
    let token = entry_token.and_then(|text| Token::read(text, context.keyring.tokens()));
    let token = token.filter(|token| token.user == fan.user && token.schedule.date() == schedule);
    let room = token.map_or(schedule, |token| token.schedule);
    match token.map(|token| token.claims) {
        Some(TokenClaims::Entry { number, session }) if session == fan.session => {
            Ok((number, room))
        }
        Some(TokenClaims::Entry { .. } | TokenClaims::Lobby { .. } | TokenClaims::Place { .. })
        | None => Err(Refusal::EntryRequired),
    }
}

/// A live entry, and the waiting room that it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct LiveEntry {
    pub entry: Entry,
    pub room: ScheduleId,
}

/// The fan's live entry for a booking call.
pub async fn require_entry(
    context: &AppContext,
    fan: Caller,
    schedule: ScheduleId,
    entry_token: Option<&str>,
    now: Timestamp,
) -> Result<LiveEntry> {
    let (number, room) = entry_number(context, fan, schedule, entry_token)?;
    let entry = context.waiting_room.queue.entry(room, fan.user, now).await?;
    let entry = entry.filter(|entry| entry.number == number).ok_or(Refusal::EntryExpired)?;
    Ok(LiveEntry { entry, room })
}

pub async fn extend(context: &AppContext, fan: UserId, schedule: ScheduleId) -> Result<EntryView> {
    let now = context.now();
    let record = current_room(context, schedule, now).await?;
    refuse_closed(&record, now)?;
    let entry = context.waiting_room.queue.extend(&rules_now(context, &record), fan, now).await?;
    context.store.record_extension(record.schedule, entry, now).await?;
    Ok(EntryView { entry_expires_at: entry.expires_at, extensions_left: entry.extensions_left })
}

/// Gives up the place or the entry. If the caller presents the token of a place that the engine
/// lost, that place is restored and given up too; otherwise the token could restore it later.
pub async fn leave(context: &AppContext, asker: Asker, schedule: ScheduleId) -> Result<()> {
    let now = context.now();
    let (record, asker) = room_of(context, asker, now).await?;
    let (fan, room) = (asker.fan, record.schedule);
    if let Some(proof) = asker.proof {
        find_or_bring_back(context, &rules_now(context, &record), fan, proof, now).await?;
    }
    let entry = context.waiting_room.queue.entry(room, fan, now).await?;
    if let Some(entry) = entry {
        context.store.end_entry(room, entry.number, "LEFT", now).await?;
    }
    context.waiting_room.queue.leave(room, fan, now).await?;
    if entry.is_none() {
        history::log::note_left(context, schedule, fan, now);
    }
    Ok(())
}
