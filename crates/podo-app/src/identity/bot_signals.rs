//! Bot signals: stored with their reason, visible to the fan, open to appeal.

use crate::cache::Cache;
use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts;
use crate::identity::accounts::PersonHint;
use crate::identity::port::bot_signals::{
    Appeal, DecideAppeal, NoteSignal, SignalQuery, SignalRecord,
};
use crate::store::{Page, PageRequest};
use podo_domain::catalog::text::Prose;
use podo_domain::identity::bot_signals::{AppealVerdict, SignalKind};
use podo_domain::{ScheduleId, SignalId, Timestamp, UserId};
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignalView {
    pub id: SignalId,
    pub user_id: UserId,
    /// The fan, for organisers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<PersonHint>,
    pub schedule_id: ScheduleId,
    pub kind: SignalKind,
    pub reason: String,
    /// How often it was recorded.
    pub seen: u32,
    /// The fan's appeal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub appeal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub appealed_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<AppealVerdict>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Recently recorded signals, so that an active bot doesn't cause a write each time.
pub struct Noted(Cache<(UserId, ScheduleId, SignalKind), Timestamp>);

/// A signal is recorded at most once in this time.
const NOTED_EVERY: Duration = Duration::from_secs(60);

const NOTED_MAX: usize = 100_000;

impl Default for Noted {
    fn default() -> Noted {
        Noted(Cache::of(NOTED_MAX))
    }
}

impl Noted {
    fn is_new(&self, user: UserId, schedule: ScheduleId, kind: SignalKind, now: Timestamp) -> bool {
        let signal = (user, schedule, kind);
        if self.0.get(&signal).is_some_and(|last| now < last.plus(NOTED_EVERY)) {
            return false;
        }
        self.0.insert(signal, now);
        true
    }
}

/// Records a signal. A failure doesn't affect the fan's request.
pub async fn note(
    context: &AppContext,
    user: UserId,
    schedule: ScheduleId,
    kind: SignalKind,
    reason: String,
) {
    let now = context.now();
    if !context.identity.noted_signals.is_new(user, schedule, kind, now) {
        return;
    }
    let signal = SignalId::new(context.rng.id(now));
    let note = NoteSignal { signal, user, schedule, kind, reason, now };
    if let Err(error) = context.store.note_signal(note).await {
        tracing::warn!(%error, "Could not record a bot signal");
    }
}

/// A fan's own signals.
pub async fn my_signals(
    context: &AppContext,
    user: UserId,
    page: PageRequest,
) -> Result<Page<SignalView>> {
    found(context, SignalQuery { user: Some(user), only_open: false, page }).await
}

/// The signals of all fans, for organisers.
pub async fn list(context: &AppContext, asked: SignalQuery) -> Result<Page<SignalView>> {
    let mut page = found(context, asked).await?;
    let people = accounts::hints(context, page.items.iter().map(|it| it.user_id)).await?;
    for signal in &mut page.items {
        signal.person = people.get(&signal.user_id).cloned();
    }
    Ok(page)
}

async fn found(context: &AppContext, asked: SignalQuery) -> Result<Page<SignalView>> {
    let limit = asked.page.limit;
    let rows = context.store.signals(asked).await?;
    let views: Result<Vec<SignalView>> = rows.into_iter().map(|row| view(context, row)).collect();
    Ok(Page::cut(views?, limit, |view| view.id.uuid()))
}

fn view(context: &AppContext, row: SignalRecord) -> Result<SignalView> {
    let open = |encrypted: &Vec<u8>| context.keyring.decrypt(&place(row.signal), encrypted);
    Ok(SignalView {
        id: row.signal,
        user_id: row.user,
        person: None,
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

/// The table, column and row that an encrypted value is bound to.
pub(crate) fn place(signal: SignalId) -> String {
    format!("bot_signals.appeal.{signal}")
}

/// Stores the fan's appeal.
pub async fn appeal(
    context: &AppContext,
    user: UserId,
    signal: SignalId,
    text: &Prose<1000>,
) -> Result<()> {
    let text = context.keyring.encrypt(&place(signal), text.as_str(), &*context.rng);
    context.store.appeal(Appeal { signal, user, text, now: context.now() }).await
}

pub async fn decide(
    context: &AppContext,
    actor: UserId,
    signal: SignalId,
    verdict: AppealVerdict,
) -> Result<()> {
    let command = DecideAppeal { actor, signal, verdict, now: context.now() };
    context.store.decide_appeal(command).await
}
