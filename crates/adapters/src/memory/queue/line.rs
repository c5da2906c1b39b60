//! The line: who waits, by number, and how many are ahead of whom.

use super::arrivals::Arrivals;
use super::returned::Returned;
use domain::queue::PlaceNumber;
use domain::{Timestamp, UserId};
use std::collections::{HashMap, HashSet};

/// A thousand numbers fit into each millisecond. So a process that starts later begins above
/// every number that an earlier one gave, without having to remember any.
const NUMBERS_PER_MS: u64 = 1_000;

pub(super) struct Line {
    /// The first number of this run; `arrivals` counts from it.
    base: PlaceNumber,
    next: PlaceNumber,
    arrivals: Arrivals,
    returned: Returned,
    fans: HashMap<PlaceNumber, UserId>,
    /// Numbers of earlier runs that were let in or left in this one.
    spent: HashSet<PlaceNumber>,
}

impl Line {
    pub(super) fn starting(now: Timestamp) -> Line {
        let base = u64::try_from(now.ms()).unwrap_or(0) * NUMBERS_PER_MS;
        Line {
            base,
            next: base,
            arrivals: Arrivals::default(),
            returned: Returned::default(),
            fans: HashMap::new(),
            spent: HashSet::new(),
        }
    }

    pub(super) fn len(&self) -> u64 {
        self.arrivals.len() + self.returned.len()
    }

    /// How many wait with a smaller number.
    pub(super) fn ahead(&self, number: PlaceNumber) -> u64 {
        self.returned.count_below(number) + self.arrivals.count_below(self.offset(number))
    }

    /// Puts the fan at the end.
    pub(super) fn join(&mut self, fan: UserId) -> PlaceNumber {
        // After a clock was set back, numbers that fans brought along can lie ahead.
        while self.is_taken(self.next) {
            self.next += 1;
        }
        let number = self.next;
        self.next += 1;
        self.put(fan, number);
        number
    }

    /// Sets numbers aside for those who are drawn, and says the first of them.
    pub(super) fn set_aside(&mut self, n_numbers: u32) -> PlaceNumber {
        let first = self.next;
        self.next += u64::from(n_numbers);
        first
    }

    /// Puts the fan at a number that was set aside.
    pub(super) fn put(&mut self, fan: UserId, number: PlaceNumber) {
        assert!(self.is_of_this_run(number), "the number is of this run");
        assert!(self.arrivals.insert(self.offset(number)), "a number is given once");
        self.fans.insert(number, fan);
    }

    /// Puts the fan back at a number from an earlier run. Numbers of this run do not come back:
    /// whoever had one and is not in line has been let in or has left.
    pub(super) fn put_back(&mut self, fan: UserId, number: PlaceNumber) -> bool {
        if self.is_of_this_run(number) || self.is_taken(number) {
            return false;
        }
        self.returned.insert(number);
        self.fans.insert(number, fan);
        true
    }

    pub(super) fn remove(&mut self, number: PlaceNumber) -> Option<UserId> {
        let fan = self.fans.remove(&number)?;
        if self.returned.remove(number) {
            self.spent.insert(number);
        } else {
            self.arrivals.remove(self.offset(number));
        }
        Some(fan)
    }

    /// Takes the fan with the smallest number out of the line.
    pub(super) fn pop_first(&mut self) -> Option<(PlaceNumber, UserId)> {
        let arrived = self.arrivals.first().map(|offset| self.base + offset as u64);
        let number = [arrived, self.returned.first()].into_iter().flatten().min()?;
        self.remove(number).map(|fan| (number, fan))
    }

    /// Was the number given, or set aside, in this run?
    pub(super) fn is_of_this_run(&self, number: PlaceNumber) -> bool {
        (self.base..self.next).contains(&number)
    }

    /// Is the number from before this run?
    pub(super) fn is_earlier(&self, number: PlaceNumber) -> bool {
        number < self.base
    }

    /// This number was let in before the engine lost its memory.
    pub(super) fn mark_spent(&mut self, number: PlaceNumber) {
        self.spent.insert(number);
    }

    /// Was the number, of an earlier run, let in or given up in this one?
    pub(super) fn is_spent(&self, number: PlaceNumber) -> bool {
        self.spent.contains(&number)
    }

    fn is_taken(&self, number: PlaceNumber) -> bool {
        self.fans.contains_key(&number) || self.is_spent(number)
    }

    fn offset(&self, number: PlaceNumber) -> usize {
        usize::try_from(number.saturating_sub(self.base)).unwrap_or(usize::MAX)
    }
}
