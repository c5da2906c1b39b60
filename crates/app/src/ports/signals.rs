//! What looked like a robot. Nobody is shut out by it alone: it is kept with its reason, shown to
//! the fan, and can be appealed against.

use crate::error::Result;
use crate::paging::PageAsk;
use async_trait::async_trait;
use domain::signals::{AppealVerdict, SignalKind};
use domain::{ScheduleId, SignalId, Timestamp, UserId};

#[derive(Clone, Debug)]
pub struct NoteSignal {
    pub signal: SignalId,
    pub user: UserId,
    pub schedule: ScheduleId,
    pub kind: SignalKind,
    /// What was seen, in words.
    pub reason: String,
    pub now: Timestamp,
}

/// A signal as it is kept; what the fan says about it is sealed.
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

/// Which signals are asked for, newest first.
#[derive(Clone, Copy, Debug)]
pub struct SignalsAsk {
    pub user: Option<UserId>,
    /// Only those that were appealed against and wait for a verdict.
    pub only_open: bool,
    pub page: PageAsk,
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
pub trait Signals: Send + Sync {
    /// The same once more is counted.
    async fn note_signal(&self, note: NoteSignal) -> Result<()>;

    async fn signals(&self, asked: SignalsAsk) -> Result<Vec<SignalRecord>>;

    /// Refusals: `NotFound` for somebody else's, or one that was decided.
    async fn appeal(&self, appeal: Appeal) -> Result<()>;

    /// Leaves an audit entry. Refusals: `NotFound`.
    async fn decide_appeal(&self, command: DecideAppeal) -> Result<()>;
}
