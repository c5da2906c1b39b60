//! What looked like a robot: noted with its reason, shown to the fan, appealed against.

use crate::error::Result;
use crate::paging::{Page, PageAsk};
use crate::platform::Platform;
use crate::ports::signals::{Appeal, DecideAppeal, NoteSignal, SignalRecord, SignalsAsk};
use domain::signals::{AppealVerdict, SignalKind};
use domain::text::Prose;
use domain::{ScheduleId, SignalId, Timestamp, UserId};
use serde::Serialize;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use utoipa::ToSchema;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignalView {
    pub id: SignalId,
    pub user_id: UserId,
    pub schedule_id: ScheduleId,
    pub kind: SignalKind,
    pub reason: String,
    /// How often it was noted.
    pub seen: u32,
    /// What the fan says about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub appeal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub appealed_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<AppealVerdict>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Signals that were noted lately: a robot that goes on costs no write each time.
#[derive(Default)]
pub struct Noted(Mutex<HashMap<(UserId, ScheduleId, SignalKind), Timestamp>>);

/// One signal is noted once in this time.
const NOTED_EVERY: Duration = Duration::from_secs(60);

/// More are noted anew.
const NOTED_MAX: usize = 100_000;

impl Noted {
    fn is_new(&self, what: (UserId, ScheduleId, SignalKind), now: Timestamp) -> bool {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.len() >= NOTED_MAX {
            noted.clear();
        }
        let last = noted.get(&what).copied();
        if last.is_some_and(|last| now < last.plus(NOTED_EVERY)) {
            return false;
        }
        noted.insert(what, now);
        true
    }
}

/// Notes a signal. Nothing that a fan does fails because of it.
pub async fn note(
    platform: &Platform,
    (user, schedule): (UserId, ScheduleId),
    kind: SignalKind,
    reason: String,
) {
    let now = platform.now();
    if !platform.noted.is_new((user, schedule, kind), now) {
        return;
    }
    let signal = SignalId::new(platform.chance.id(now));
    let note = NoteSignal { signal, user, schedule, kind, reason, now };
    if let Err(error) = platform.store.note_signal(note).await {
        tracing::warn!(%error, "A signal of a robot was not noted");
    }
}

/// A fan's own signals.
pub async fn my_signals(
    platform: &Platform,
    user: UserId,
    page: PageAsk,
) -> Result<Page<SignalView>> {
    list(platform, SignalsAsk { user: Some(user), only_open: false, page }).await
}

/// Everybody's, for organisers.
pub async fn list(platform: &Platform, asked: SignalsAsk) -> Result<Page<SignalView>> {
    let limit = asked.page.limit;
    let rows = platform.store.signals(asked).await?;
    let views: Result<Vec<SignalView>> = rows.into_iter().map(|row| view(platform, row)).collect();
    Ok(Page::cut(views?, limit, |view| view.id.uuid()))
}

fn view(platform: &Platform, row: SignalRecord) -> Result<SignalView> {
    let open = |sealed: &Vec<u8>| platform.seals.open(&place(row.signal), sealed);
    Ok(SignalView {
        id: row.signal,
        user_id: row.user,
        schedule_id: row.schedule,
        kind: row.kind,
        appeal: row.appeal.as_ref().map(open).transpose()?,
        reason: row.reason,
        seen: row.n_seen,
        appealed_at: row.appealed_at,
        verdict: row.verdict,
        created_at: row.created_at,
        updated_at: row.updated_at,
    })
}

/// Which table, column and row a sealed value belongs to.
pub(crate) fn place(signal: SignalId) -> String {
    format!("bot_signals.appeal.{signal}")
}

/// The fan says why it was no robot.
pub async fn appeal(
    platform: &Platform,
    user: UserId,
    signal: SignalId,
    text: &Prose<1000>,
) -> Result<()> {
    let text = platform.seals.seal(&place(signal), text.as_str(), &*platform.chance);
    platform.store.appeal(Appeal { signal, user, text, now: platform.now() }).await
}

pub async fn decide(
    platform: &Platform,
    actor: UserId,
    signal: SignalId,
    verdict: AppealVerdict,
) -> Result<()> {
    let command = DecideAppeal { actor, signal, verdict, now: platform.now() };
    platform.store.decide_appeal(command).await
}
