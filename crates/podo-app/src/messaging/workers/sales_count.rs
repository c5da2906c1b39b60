//! Counters of this node's worker and job rounds.

use crate::operations::jobs::Round;
use std::collections::BTreeMap;
use std::sync::Mutex;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundCounter {
    pub rounds: u64,
    pub done: u64,
    pub failed: u64,
}

#[derive(Default)]
pub struct RoundCounters {
    by_name: Mutex<BTreeMap<&'static str, RoundCounter>>,
}

impl RoundCounters {
    pub fn add(&self, name: &'static str, round: Round) {
        let mut by_name = self.by_name.lock().expect("the lock is never poisoned");
        let counter = by_name.entry(name).or_default();
        counter.rounds += 1;
        counter.done += round.done;
        counter.failed += round.failed;
    }

    pub fn all(&self) -> BTreeMap<&'static str, RoundCounter> {
        self.by_name.lock().expect("the lock is never poisoned").clone()
    }
}
