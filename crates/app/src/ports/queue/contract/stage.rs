//! One schedule of its own for one rule, and the calls that the rules make.

use crate::Error;
use crate::ports::queue::{Admission, Queue, Remembered, Returning};
use domain::queue::{
    Entry, PlaceNumber, QueueCounts, QueueMode, QueueRules, QueueSettings, Standing,
};
use domain::{Refusal, ScheduleId, Timestamp, UserId};
use uuid::Uuid;

pub(super) const SECOND: std::time::Duration = std::time::Duration::from_secs(1);

pub(super) struct Stage<'a> {
    pub(super) queue: &'a dyn Queue,
    pub(super) rules: QueueRules,
}

pub(super) fn fan(number: u64) -> UserId {
    UserId::new(Uuid::from_u128(u128::from(number)))
}

impl Stage<'_> {
    /// A sale with room for `max_active` fans, and its waiting room, open since a while.
    pub(super) async fn new(
        queue: &dyn Queue,
        id: (u64, u64),
        max_active: u32,
        opens_at: Timestamp,
    ) -> Stage<'_> {
        let stage = Stage::closed(queue, id, max_active, opens_at);
        stage.open(opens_at.minus(60 * SECOND)).await;
        stage
    }

    /// The same with a waiting room that nobody has opened.
    pub(super) fn closed(
        queue: &dyn Queue,
        (seed, rule): (u64, u64),
        max_active: u32,
        opens_at: Timestamp,
    ) -> Stage<'_> {
        let id = Uuid::from_u128((u128::from(seed) << 64) | (u128::from(rule) << 32));
        let settings = QueueSettings { max_active, ..QueueSettings::default() };
        let rules = QueueRules {
            schedule: ScheduleId::with_room_for_seats(id),
            settings,
            opens_at,
            draw_seed: [7; 32],
        };
        Stage { queue, rules }
    }

    pub(super) fn set_mode(&mut self, mode: QueueMode) {
        self.rules.settings.mode = mode;
    }

    pub(super) async fn enter(&self, number: u64, now: Timestamp) -> Standing {
        self.enter_with(number, None, now).await
    }

    pub(super) async fn enter_with(
        &self,
        number: u64,
        proof: Option<Returning>,
        now: Timestamp,
    ) -> Standing {
        let standing = self.queue.enter(&self.rules, fan(number), proof, now).await;
        standing.expect("the engine lets the fan enter").expect("the room is open")
    }

    pub(super) async fn refusal_to_enter(&self, number: u64, now: Timestamp) -> Option<Refusal> {
        match self.queue.enter(&self.rules, fan(number), None, now).await {
            Err(Error::Refused(refusal)) => Some(refusal),
            Ok(_) | Err(Error::Conflict(_) | Error::Unavailable(_) | Error::Broken(_)) => None,
        }
    }

    /// Enters fans `1..=n` and says the numbers of their places.
    pub(super) async fn line_up(&self, n: u64, now: Timestamp) -> Vec<PlaceNumber> {
        let mut numbers = Vec::new();
        for number in 1..=n {
            numbers.push(number_of(self.enter(number, now).await));
        }
        numbers
    }

    pub(super) async fn standing(&self, number: u64, now: Timestamp) -> Standing {
        let seen = self.queue.standing(&self.rules, fan(number), None, now).await;
        seen.expect("the engine answers").standing
    }

    pub(super) async fn ahead(&self, number: u64, now: Timestamp) -> u64 {
        let standing = self.standing(number, now).await;
        match standing {
            Standing::Waiting { ahead, .. } => ahead,
            Standing::Lobby { .. } | Standing::Inside(_) | Standing::Expired | Standing::Absent => {
                panic!("fan {number} waits in line, but the engine says {standing:?}")
            }
        }
    }

    pub(super) async fn entry(&self, number: u64, now: Timestamp) -> Option<Entry> {
        let entry = self.queue.entry(self.rules.schedule, fan(number), now).await;
        entry.expect("the engine answers")
    }

    pub(super) async fn leave(&self, number: u64, now: Timestamp) {
        let left = self.queue.leave(self.rules.schedule, fan(number), now).await;
        left.expect("the engine answers");
    }

    pub(super) async fn end_entry(&self, number: u64, place: PlaceNumber, now: Timestamp) {
        let ended = self.queue.end_entry(self.rules.schedule, fan(number), place, now).await;
        ended.expect("the engine answers");
    }

    pub(super) async fn admit(&self, now: Timestamp) -> Vec<Admission> {
        let admitted = self.queue.admit(&self.rules, now).await.expect("the engine answers");
        admitted.expect("the room is open")
    }

    pub(super) async fn counts(&self, now: Timestamp) -> QueueCounts {
        self.queue.counts(self.rules.schedule, now).await.expect("the engine answers")
    }

    pub(super) async fn open(&self, now: Timestamp) {
        let opened = self.queue.restore(&self.rules, &Remembered::default(), now).await;
        opened.expect("the engine answers");
    }

    /// The engine loses the room, and somebody opens it again.
    pub(super) async fn forget(&self, now: Timestamp) {
        self.queue.remove(self.rules.schedule).await.expect("the engine answers");
        self.open(now).await;
    }

    pub(super) async fn come_back(
        &self,
        number: u64,
        proof: Returning,
        now: Timestamp,
    ) -> Standing {
        let standing = self.queue.come_back(&self.rules, fan(number), proof, now).await;
        standing.expect("the engine answers").expect("the room is open")
    }
}

pub(super) fn number_of(standing: Standing) -> PlaceNumber {
    match standing {
        Standing::Waiting { number, .. } => number,
        Standing::Lobby { .. } | Standing::Inside(_) | Standing::Expired | Standing::Absent => {
            panic!("the fan waits in line, but the engine says {standing:?}")
        }
    }
}

pub(super) fn entry_of(standing: Standing) -> Entry {
    match standing {
        Standing::Inside(entry) => entry,
        Standing::Lobby { .. }
        | Standing::Waiting { .. }
        | Standing::Expired
        | Standing::Absent => {
            panic!("the fan is inside, but the engine says {standing:?}")
        }
    }
}
