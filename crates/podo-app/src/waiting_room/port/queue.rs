//! The queue of each schedule.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::waiting_room::{Entry, PlaceNumber, QueueCounts, QueuePosition, QueueRules};
use podo_domain::{ScheduleId, Timestamp, UserId};

/// A returning fan's proof of a place, from the place token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceProof {
    /// The fan gathered before the opening at `index` of the lobby.
    Lobby { index: u32 },
    /// The fan had this number in the queue.
    Line { number: PlaceNumber },
}

/// One fan admitted by a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    pub fan: UserId,
    pub entry: Entry,
}

/// The store's record of admissions, for an engine that may have lost them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remembered {
    /// Live entries.
    pub inside: Vec<Admission>,
    /// Ended entries that the engine may believe to be live.
    pub over: Vec<FanPlace>,
    /// The engine's epoch at the time of the survey; `None` accepts any. An engine that loses
    /// writes after the survey may hold entries that the store wasn't asked about.
    pub epoch: Option<String>,
}

impl From<Vec<Admission>> for Remembered {
    fn from(inside: Vec<Admission>) -> Remembered {
        Remembered { inside, over: Vec::new(), epoch: None }
    }
}

/// A number, and the fan it was given to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FanPlace {
    pub fan: UserId,
    pub number: PlaceNumber,
}

/// What a room still has, and the engine's epoch when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    pub epoch: String,
    /// `None` if the room is new or was lost entirely.
    pub survivors: Option<Survivors>,
}

/// What a room still has, so that the store returns only what the room may have lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Survivors {
    /// The smallest number inside; `front` if the room is empty.
    pub oldest_inside: PlaceNumber,
    /// The first waiting number, or the next number to be issued.
    pub front: PlaceNumber,
}

/// The rooms where fans gather or wait, perhaps with some others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Busy {
    pub rooms: Vec<ScheduleId>,
    /// The engine is new, or has lost everything: any room may have fans.
    pub is_new: bool,
}

/// A fan's position and whether it is current.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PositionSnapshot {
    pub position: QueuePosition,
    /// False while the engine doesn't answer: the position is the last known one, and no fan moves.
    pub is_live: bool,
}

/// Every engine keeps these rules; `contract` checks them:
/// - a fan has one place per schedule: entering again, from any device, returns the same place;
/// - a place number never changes, and a waiting fan's position never grows;
/// - before the opening fans gather in the lobby; the first step at or after `opens_at` draws their
///   order from the seed, once;
/// - admission goes strictly by number; no fan passes a waiting fan, not even into a free slot;
/// - live entries never exceed `max_active`; an expired entry stops counting at its very
///   millisecond, swept or not;
/// - with no fan waiting, mode AUTO and a free slot, entering admits at once;
/// - a fan who proves a place that the engine lost gets that number back, unless that number has
///   been admitted or has left since;
/// - once a fan has returned to the queue of a lost room, no fan is admitted until `RETURN_WINDOW`
///   has passed since it was reopened, because others are still returning;
/// - an entry that isn't claimed within the claim window is given back;
/// - only `restore` opens a room. A room that was never opened or was lost admits no fan, because
///   it doesn't know who is inside: the caller opens it and retries;
/// - the same holds for a room whose engine may have lost any suffix of its writes: numbers and
///   indexes come from blocks of the store (`QueueBlocks`), so that none is issued twice; lost
///   places come back through the fans' proofs and the store's entries;
/// - a fan who proves a later place than the one where such a room has them gets the later one.
#[async_trait]
pub trait Queue: Send + Sync {
    /// Puts the fan into the lobby or the queue, or returns their existing position. `None` if the
    /// room isn't open. Refusal: `QueueClosed`, for a new fan while the queue drains or is closed.
    async fn enter(
        &self,
        rules: &QueueRules,
        fan: UserId,
        place_proof: Option<PlaceProof>,
        now: Timestamp,
    ) -> Result<Option<QueuePosition>>;

    /// Restores the fan to the proven place, if the engine lost it; never creates a new place.
    /// `None` if the room isn't open.
    async fn come_back(
        &self,
        rules: &QueueRules,
        fan: UserId,
        proof: PlaceProof,
        now: Timestamp,
    ) -> Result<Option<QueuePosition>>;

    /// The fan's position. Reading it claims a fresh entry. Given the proof of a place, an engine
    /// may answer from a replica, or with the last known position if it's unavailable.
    async fn position(
        &self,
        rules: &QueueRules,
        fan: UserId,
        proof: Option<PlaceProof>,
        now: Timestamp,
    ) -> Result<PositionSnapshot>;

    /// The position of this fan with this number, without I/O. `None` if the fan isn't waiting or
    /// the engine would need I/O to know; then call `position`.
    fn cached_position(
        &self,
        _schedule: ScheduleId,
        _place: FanPlace,
        _now: Timestamp,
    ) -> Option<QueuePosition> {
        None
    }

    /// Gives up the place or the entry; a no-op if there is none.
    async fn leave(&self, schedule: ScheduleId, fan: UserId, now: Timestamp) -> Result<()>;

    /// Ends the entry with this number, because it was used for a purchase. A newer entry or a
    /// place in the queue stays. A no-op if there is none.
    async fn end_entry(
        &self,
        schedule: ScheduleId,
        fan: UserId,
        number: PlaceNumber,
        now: Timestamp,
    ) -> Result<()>;

    /// The fan's live entry, if any.
    async fn entry(
        &self,
        schedule: ScheduleId,
        fan: UserId,
        now: Timestamp,
    ) -> Result<Option<Entry>>;

    /// Extends a live entry, at most twice. Refusals: `EntryExpired`, `NoExtensionsLeft`.
    async fn extend(&self, rules: &QueueRules, fan: UserId, now: Timestamp) -> Result<Entry>;

    /// One round: draws when it's time, frees expired entries, and admits in order as many fans as
    /// the rules allow. Safe to call from any node at any rate. `None` if the room isn't open.
    async fn admit(&self, rules: &QueueRules, now: Timestamp) -> Result<Option<Vec<Admission>>>;

    /// What the room still has, open or not.
    async fn survey(&self, schedule: ScheduleId, now: Timestamp) -> Result<Survey>;

    /// Opens a room with the entries from the store, possibly none. If the room is already open,
    /// entries that ended there stay ended, and entries that it doesn't know are restored while a
    /// slot is free. `Unavailable` if the engine's epoch has changed since the survey.
    async fn restore(
        &self,
        rules: &QueueRules,
        remembered: &Remembered,
        now: Timestamp,
    ) -> Result<()>;

    async fn counts(&self, schedule: ScheduleId, now: Timestamp) -> Result<QueueCounts>;

    /// The rooms that need rounds. An engine may miss a room of which it lost writes or that no fan
    /// has contacted for a while, so callers visit every live room from time to time.
    async fn busy(&self, now: Timestamp) -> Result<Busy>;

    /// Removes a schedule whose sale is long over.
    async fn remove(&self, schedule: ScheduleId) -> Result<()>;
}
