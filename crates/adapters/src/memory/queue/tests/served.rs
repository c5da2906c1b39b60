//! A room that is open, and gets what its steps need.

use crate::memory::queue::room::Room;
use app::ports::queue::{Admission, Remembered, Returning};
use domain::queue::{Blocks, Need, QueueRules, Standing};
use domain::{Refusal, Timestamp, UserId};
use std::ops::{Deref, DerefMut};

pub(super) struct Served {
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
    pub(super) fn new(rules: &QueueRules, now: Timestamp) -> Served {
        let blocks = Blocks::starting(now);
        let mut served = Served { room: Room::new(blocks.numbers_to, now), blocks };
        served.restore(rules, Vec::new(), now);
        served
    }

    /// The engine loses everything; the store goes on.
    pub(super) fn lose(&mut self, rules: &QueueRules, entries: Vec<Admission>, now: Timestamp) {
        self.room = Room::new(self.blocks.numbers_to, now);
        self.restore(rules, entries, now);
    }

    fn restore(&mut self, rules: &QueueRules, entries: Vec<Admission>, now: Timestamp) {
        self.room.restore((rules, &self.blocks), &Remembered::from(entries), 0, now);
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

    pub(super) fn enter(
        &mut self,
        rules: &QueueRules,
        fan: UserId,
        proof: Option<Returning>,
        now: Timestamp,
    ) -> Result<Standing, Refusal> {
        self.step(rules, |room| room.enter(rules, fan, proof, now))
    }

    pub(super) fn come_back(
        &mut self,
        rules: &QueueRules,
        fan: UserId,
        proof: Returning,
        now: Timestamp,
    ) -> Standing {
        self.step(rules, |room| room.come_back(rules, fan, proof, now))
    }

    pub(super) fn standing(&mut self, rules: &QueueRules, fan: UserId, now: Timestamp) -> Standing {
        self.step(rules, |room| room.standing(rules, fan, now))
    }

    pub(super) fn admit(&mut self, rules: &QueueRules, now: Timestamp) -> Vec<Admission> {
        self.step(rules, |room| room.admit(rules, now))
    }
}
