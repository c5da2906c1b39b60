//! What the workers and jobs of this node did since its start.

use crate::jobs::Round;
use std::collections::BTreeMap;
use std::sync::Mutex;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub rounds: u64,
    pub done: u64,
    pub failed: u64,
}

#[derive(Default)]
pub struct Tallies {
    by_name: Mutex<BTreeMap<&'static str, Tally>>,
}

impl Tallies {
    pub fn add(&self, name: &'static str, round: Round) {
        let mut by_name = self.by_name.lock().expect("nothing panics under this lock");
        let tally = by_name.entry(name).or_default();
        tally.rounds += 1;
        tally.done += round.done;
        tally.failed += round.failed;
    }

    pub fn all(&self) -> BTreeMap<&'static str, Tally> {
        self.by_name.lock().expect("nothing panics under this lock").clone()
    }
}
