//! Bot signals. A signal alone excludes no fan: it's stored with its reason, visible to the fan,
//! and open to appeal.

use crate::error::Result;
use crate::store::PageRequest;
use async_trait::async_trait;
use podo_domain::identity::bot_signals::{AppealVerdict, SignalKind};
use podo_domain::{ScheduleId, SignalId, Timestamp, UserId};

#[derive(Clone, Debug)]
pub struct NoteSignal {
    pub signal: SignalId,
    pub user: UserId,
    pub schedule: ScheduleId,
    pub kind: SignalKind,
    /// What was observed, in words.
    pub reason: String,
    pub now: Timestamp,
}

/// A stored signal; the fan's appeal is encrypted.
#[derive(Clone, Debug)]
pub struct SignalRecord {
    pub signal: SignalId,
    pub user: UserId,
    pub schedule: ScheduleId,
    pub kind: SignalKind,
    pub reason: String,
    pub n_seen: u32,
    pub appeal: Option<Vec<u8>>,
    pub appealed_at: Option<Timestamp>,
    pub verdict: Option<AppealVerdict>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Selects signals, newest first.
#[derive(Clone, Copy, Debug)]
pub struct SignalQuery {
    pub user: Option<UserId>,
    /// Only appealed signals that wait for a verdict.
    pub only_open: bool,
    pub page: PageRequest,
}

#[derive(Clone, Debug)]
pub struct Appeal {
    pub signal: SignalId,
    pub user: UserId,
    pub text: Vec<u8>,
    pub now: Timestamp,
}

#[derive(Clone, Copy, Debug)]
pub struct DecideAppeal {
    pub actor: UserId,
    pub signal: SignalId,
    pub verdict: AppealVerdict,
    pub now: Timestamp,
}

#[async_trait]
pub trait BotSignals: Send + Sync {
    /// A repeated signal increments its count.
    async fn note_signal(&self, note: NoteSignal) -> Result<()>;

    async fn signals(&self, asked: SignalQuery) -> Result<Vec<SignalRecord>>;

    /// Refusals: `NotFound` for another fan's signal, or one that was decided.
    async fn appeal(&self, appeal: Appeal) -> Result<()>;

    /// Writes an audit entry. Refusals: `NotFound`.
    async fn decide_appeal(&self, command: DecideAppeal) -> Result<()>;
}
