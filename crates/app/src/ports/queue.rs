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

/// What the store remembers of those who were let in, for an engine that may have lost it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remembered {
    /// Entries that are alive.
    pub inside: Vec<Admission>,
    /// Entries that are over, of those that the engine may believe in.
    pub over: Vec<Over>,
    /// The life of the engine in which it was surveyed; any, when there is none. An engine that loses
    /// writes after the survey may believe in entries that the store was not asked about.
    pub epoch: Option<String>,
}

impl From<Vec<Admission>> for Remembered {
    fn from(inside: Vec<Admission>) -> Remembered {
        Remembered { inside, over: Vec::new(), epoch: None }
    }
}

/// An entry that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Over {
    pub fan: UserId,
    pub number: PlaceNumber,
}

/// What a room still has, and in which life of its engine it was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    pub epoch: String,
    /// Nothing of a room that is new or was lost as a whole.
    pub survivors: Option<Survivors>,
}

/// What a room still has, so that the store tells only what it may have lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Survivors {
    /// The smallest number inside; `front` when nobody is.
    pub oldest_inside: PlaceNumber,
    /// The first in line, or the next number to be given.
    pub front: PlaceNumber,
}

/// What a fan who asks is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub standing: Standing,
    /// False while the engine does not answer: then this is what was known last, and nobody moves.
    pub is_live: bool,
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
/// - once somebody came back to the line of a room that was lost, nobody is let in before
///   `RETURN_WINDOW` is over since it was opened again: others are on their way;
/// - an entry that nobody claims within the claim window is given back;
/// - a room is opened by `restore` alone. One that was never opened or was lost lets nobody in,
///   because it does not know who is inside: its caller opens it and tries again;
/// - the same for a room whose engine may have lost its last writes, whatever suffix of them:
///   numbers and indexes come from blocks of the store (`QueueBlocks`), so that none is given
///   twice; what was told and lost comes back with the proof of it and with the store's entries;
/// - a fan who proves a later place than the one where such a room has them gets the later one.
#[async_trait]
pub trait Queue: Send + Sync {
    /// Puts the fan in the lobby or in line, or finds them where they are. `None` when the room
    /// is not open. Refusal: `QueueClosed`, for somebody new while the queue drains or is closed.
    async fn enter(
        &self,
        rules: &QueueRules,
        fan: UserId,
        returning: Option<Returning>,
        now: Timestamp,
    ) -> Result<Option<Standing>>;

    /// Puts the fan back at the place of the proof, if the engine forgot it; nobody joins anew by
    /// this. `None` when the room is not open.
    async fn come_back(
        &self,
        rules: &QueueRules,
        fan: UserId,
        proof: Returning,
        now: Timestamp,
    ) -> Result<Option<Standing>>;

    /// Where the fan stands. Asking claims a fresh entry. With the proof of the place an engine may
    /// answer from what it knew a moment ago, or knew last when it does not answer any more.
    async fn standing(
        &self,
        rules: &QueueRules,
        fan: UserId,
        proof: Option<Returning>,
        now: Timestamp,
    ) -> Result<Seen>;

    /// Where this fan with this number stands, at once and without asking anybody: `None` when they
    /// do not wait, or when the engine would have to look further. Then `standing` knows.
    fn standing_now(
        &self,
        _schedule: ScheduleId,
        _place: (PlaceNumber, UserId),
        _now: Timestamp,
    ) -> Option<Standing> {
        None
    }

    /// Gives up the place or the entry. Harmless when there is none.
    async fn leave(&self, schedule: ScheduleId, fan: UserId, now: Timestamp) -> Result<()>;

    /// The entry with this number was bought with and is over. What the fan has by another number,
    /// a newer entry or a place in line, stays theirs. Harmless when there is none.
    async fn end_entry(
        &self,
        schedule: ScheduleId,
        fan: UserId,
        number: PlaceNumber,
        now: Timestamp,
    ) -> Result<()>;

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
    /// allow, in order. Safe to call from anywhere at any rate. `None` when the room is not open.
    async fn admit(&self, rules: &QueueRules, now: Timestamp) -> Result<Option<Vec<Admission>>>;

    /// What the room still has, open or not.
    async fn survey(&self, schedule: ScheduleId, now: Timestamp) -> Result<Survey>;

    /// Opens a room with the entries that the store remembers, which may be none. Harmless when
    /// it is open: what ended there stays ended, and what it never heard of comes back while a slot
    /// is free. `Unavailable` when the engine is in another life than in the survey.
    async fn restore(
        &self,
        rules: &QueueRules,
        remembered: &Remembered,
        now: Timestamp,
    ) -> Result<()>;

    async fn counts(&self, schedule: ScheduleId, now: Timestamp) -> Result<QueueCounts>;

    /// Forgets a schedule whose sale is long over.
    async fn remove(&self, schedule: ScheduleId) -> Result<()>;
}
