//! An open room that gets what its steps need.

use crate::live::memory::queue::room::Room;
use podo_app::waiting_room::port::queue::{Admission, PlaceProof, Remembered};
use podo_domain::waiting_room::{Blocks, Need, QueuePosition, QueueRules};
use podo_domain::{Refusal, Timestamp, UserId};
use std::ops::{Deref, DerefMut};

pub(crate) struct Served {
    room: Room,
    blocks: Blocks,
}

impl Deref for Served {
    type Target = Room;

    fn deref(&self) -> &Room {
        &self.room
    }
}

impl DerefMut for Served {
    fn deref_mut(&mut self) -> &mut Room {
        &mut self.room
    }
}

impl Served {
    pub(crate) fn new(rules: &QueueRules, now: Timestamp) -> Served {
        let blocks = Blocks::starting(now);
        let mut served = Served { room: Room::new(blocks.numbers_to, now), blocks };
        served.restore(rules, Vec::new(), now);
        served
    }

    /// The engine loses everything; the store doesn't.
    pub(crate) fn lose(&mut self, rules: &QueueRules, entries: Vec<Admission>, now: Timestamp) {
        self.room = Room::new(self.blocks.numbers_to, now);
        self.restore(rules, entries, now);
    }

    fn restore(&mut self, rules: &QueueRules, entries: Vec<Admission>, now: Timestamp) {
        self.room.restore(rules, &self.blocks, &Remembered::from(entries), 0, now);
    }

    fn step<T>(
        &mut self,
        rules: &QueueRules,
        mut step: impl FnMut(&mut Room) -> Result<T, Need>,
    ) -> T {
        loop {
            match step(&mut self.room) {
                Ok(answer) => return answer,
                Err(need) => self.room.take(self.blocks.grant(need), &rules.draw_seed),
            }
        }
    }

    pub(crate) fn enter(
        &mut self,
        rules: &QueueRules,
        fan: UserId,
        proof: Option<PlaceProof>,
        now: Timestamp,
    ) -> Result<QueuePosition, Refusal> {
        self.step(rules, |room| room.enter(rules, fan, proof, now))
    }

    pub(crate) fn come_back(
        &mut self,
        rules: &QueueRules,
        fan: UserId,
        proof: PlaceProof,
        now: Timestamp,
    ) -> QueuePosition {
        self.step(rules, |room| room.come_back(rules, fan, proof, now))
    }

    pub(crate) fn position(
        &mut self,
        rules: &QueueRules,
        fan: UserId,
        now: Timestamp,
    ) -> QueuePosition {
        self.step(rules, |room| room.position(rules, fan, now))
    }

    pub(crate) fn admit(&mut self, rules: &QueueRules, now: Timestamp) -> Vec<Admission> {
        self.step(rules, |room| room.admit(rules, now))
    }
}
