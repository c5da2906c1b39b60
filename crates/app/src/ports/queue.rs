//! The waiting room of each schedule.

pub mod contract;

use crate::error::Result;
use async_trait::async_trait;
use domain::queue::{Entry, PlaceNumber, QueueCounts, QueueRules, Standing};
use domain::{ScheduleId, Timestamp, UserId};

/// The proof that a returning fan brings: where the place token says they stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returning {
    /// They gathered before the opening, as number `index` of the lobby.
    Lobby { index: u32 },
    /// They had this number in the line.
    Line { number: PlaceNumber },
}

/// One fan let in by a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    pub fan: UserId,
    pub entry: Entry,
}

/// Every engine keeps these rules; `contract` checks them:
/// - a fan has one place per schedule: entering again, from anywhere, answers the same place;
/// - a place number never changes, and a waiting fan's position never grows;
/// - before the opening fans gather in the lobby; the first step at or after `opens_at` draws
///   their order from the seed, once;
/// - admission goes strictly by number; nobody passes a waiting fan, not even into a free slot;
/// - live entries never exceed `max_active`, at any moment; an expired entry counts no more from
///   its very millisecond on, swept or not;
/// - with nobody waiting, the mode AUTO and a free slot, entering admits at once;
/// - a fan who returns with the proof of a place that the engine forgot gets that number back,
///   unless that number has been admitted or has left since;
/// - an entry that nobody claims within the claim window is given back.
#[async_trait]
pub trait Queue: Send + Sync {
    /// Puts the fan in the lobby or in line, or finds them where they are. Refusal:
    /// `QueueClosed`, for somebody new while the queue drains or is closed.
    async fn enter(
        &self,
        rules: &QueueRules,
        fan: UserId,
        returning: Option<Returning>,
        now: Timestamp,
    ) -> Result<Standing>;

    /// Where the fan stands. Asking claims a fresh entry.
    async fn standing(&self, rules: &QueueRules, fan: UserId, now: Timestamp) -> Result<Standing>;

    /// Gives up the place or the entry. Harmless when there is none.
    async fn leave(&self, schedule: ScheduleId, fan: UserId, now: Timestamp) -> Result<()>;

    /// The fan's live entry, if there is one.
    async fn entry(
        &self,
        schedule: ScheduleId,
        fan: UserId,
        now: Timestamp,
    ) -> Result<Option<Entry>>;

    /// Gives a live entry more time, at most twice. Refusals: `EntryExpired`, `NoExtensionsLeft`.
    async fn extend(&self, rules: &QueueRules, fan: UserId, now: Timestamp) -> Result<Entry>;

    /// One round: draws when it is time, frees what has expired, lets in as many as the rules
    /// allow, in order. Safe to call from anywhere at any rate.
    async fn admit(&self, rules: &QueueRules, now: Timestamp) -> Result<Vec<Admission>>;

    /// Brings back entries that the store remembers, after the engine lost its memory.
    async fn restore(
        &self,
        schedule: ScheduleId,
        entries: &[Admission],
        now: Timestamp,
    ) -> Result<()>;

    async fn counts(&self, schedule: ScheduleId, now: Timestamp) -> Result<QueueCounts>;

    /// Forgets a schedule whose sale is long over.
    async fn remove(&self, schedule: ScheduleId) -> Result<()>;
}
