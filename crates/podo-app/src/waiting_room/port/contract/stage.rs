//! One schedule per rule, and the calls that the rules make.

use crate::Error;
use crate::waiting_room::port::queue::{Admission, PlaceProof, Queue, Remembered};
use podo_domain::waiting_room::{
    Entry, PlaceNumber, QueueCounts, QueueMode, QueuePosition, QueueRules, QueueSettings,
};
use podo_domain::{Refusal, ScheduleId, Timestamp, UserId};
use uuid::Uuid;

pub(crate) const SECOND: std::time::Duration = std::time::Duration::from_secs(1);

pub(crate) struct Stage<'a> {
    pub(crate) queue: &'a dyn Queue,
    pub(crate) rules: QueueRules,
}

pub(crate) fn fan(number: u64) -> UserId {
    UserId::new(Uuid::from_u128(u128::from(number)))
}

impl Stage<'_> {
    /// A sale with `max_active` slots whose waiting room is already open.
    pub(crate) async fn new(
        queue: &dyn Queue,
        id: (u64, u64),
        max_active: u32,
        opens_at: Timestamp,
    ) -> Stage<'_> {
        let stage = Stage::closed(queue, id, max_active, opens_at);
        stage.open(opens_at.minus(60 * SECOND)).await;
        stage
    }

    /// The same with a waiting room that hasn't been opened.
    pub(crate) fn closed(
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

    pub(crate) fn set_mode(&mut self, mode: QueueMode) {
        self.rules.settings.mode = mode;
    }

    pub(crate) async fn enter(&self, number: u64, now: Timestamp) -> QueuePosition {
        self.enter_with(number, None, now).await
    }

    pub(crate) async fn enter_with(
        &self,
        number: u64,
        proof: Option<PlaceProof>,
        now: Timestamp,
    ) -> QueuePosition {
        let position = self.queue.enter(&self.rules, fan(number), proof, now).await;
        position.expect("the engine accepts the fan").expect("the room is open")
    }

    pub(crate) async fn refusal_to_enter(&self, number: u64, now: Timestamp) -> Option<Refusal> {
        match self.queue.enter(&self.rules, fan(number), None, now).await {
            Err(Error::Refused(refusal)) => Some(refusal),
            Ok(_) | Err(Error::Conflict(_) | Error::Unavailable(_) | Error::Broken(_)) => None,
        }
    }

    /// Enters fans `1..=n` and returns their place numbers.
    pub(crate) async fn line_up(&self, n: u64, now: Timestamp) -> Vec<PlaceNumber> {
        let mut numbers = Vec::new();
        for number in 1..=n {
            numbers.push(number_of(self.enter(number, now).await));
        }
        numbers
    }

    pub(crate) async fn position(&self, number: u64, now: Timestamp) -> QueuePosition {
        let seen = self.queue.position(&self.rules, fan(number), None, now).await;
        seen.expect("the engine answers").position
    }

    pub(crate) async fn ahead(&self, number: u64, now: Timestamp) -> u64 {
        let position = self.position(number, now).await;
        match position {
            QueuePosition::Waiting { ahead, .. } => ahead,
            QueuePosition::Lobby { .. }
            | QueuePosition::Inside(_)
            | QueuePosition::Expired
            | QueuePosition::Absent => {
                panic!("fan {number} waits in line, but the engine says {position:?}")
            }
        }
    }

    pub(crate) async fn entry(&self, number: u64, now: Timestamp) -> Option<Entry> {
        let entry = self.queue.entry(self.rules.schedule, fan(number), now).await;
        entry.expect("the engine answers")
    }

    pub(crate) async fn leave(&self, number: u64, now: Timestamp) {
        let left = self.queue.leave(self.rules.schedule, fan(number), now).await;
        left.expect("the engine answers");
    }

    pub(crate) async fn end_entry(&self, number: u64, place: PlaceNumber, now: Timestamp) {
        let ended = self.queue.end_entry(self.rules.schedule, fan(number), place, now).await;
        ended.expect("the engine answers");
    }

    pub(crate) async fn admit(&self, now: Timestamp) -> Vec<Admission> {
        let admitted = self.queue.admit(&self.rules, now).await.expect("the engine answers");
        admitted.expect("the room is open")
    }

    pub(crate) async fn counts(&self, now: Timestamp) -> QueueCounts {
        self.queue.counts(self.rules.schedule, now).await.expect("the engine answers")
    }

    pub(crate) async fn open(&self, now: Timestamp) {
        let opened = self.queue.restore(&self.rules, &Remembered::default(), now).await;
        opened.expect("the engine answers");
    }

    /// The engine loses the room, and it is opened again.
    pub(crate) async fn forget(&self, now: Timestamp) {
        self.queue.remove(self.rules.schedule).await.expect("the engine answers");
        self.open(now).await;
    }

    pub(crate) async fn come_back(
        &self,
        number: u64,
        proof: PlaceProof,
        now: Timestamp,
    ) -> QueuePosition {
        let position = self.queue.come_back(&self.rules, fan(number), proof, now).await;
        position.expect("the engine answers").expect("the room is open")
    }
}

pub(crate) fn number_of(position: QueuePosition) -> PlaceNumber {
    match position {
        QueuePosition::Waiting { number, .. } => number,
        QueuePosition::Lobby { .. }
        | QueuePosition::Inside(_)
        | QueuePosition::Expired
        | QueuePosition::Absent => {
            panic!("the fan waits in line, but the engine says {position:?}")
        }
    }
}

pub(crate) fn entry_of(position: QueuePosition) -> Entry {
    match position {
        QueuePosition::Inside(entry) => entry,
        QueuePosition::Lobby { .. }
        | QueuePosition::Waiting { .. }
        | QueuePosition::Expired
        | QueuePosition::Absent => {
            panic!("the fan is inside, but the engine says {position:?}")
        }
    }
}
