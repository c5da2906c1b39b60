//! The line: who waits, by number, and how many are ahead of whom.

use super::board::Board;
use super::returned::Returned;
use domain::queue::PlaceNumber;
use domain::{Timestamp, UserId};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use uuid::Uuid;

/// A thousand numbers fit into each millisecond. So a process that starts later begins above
/// every number that an earlier one gave, without having to remember any.
const NUMBERS_PER_MS: u64 = 1_000;

pub(super) struct Line {
    next: PlaceNumber,
    /// The numbers of this run, for anybody to read.
    board: Arc<Board>,
    /// Who has them.
    fans: Fans,
    /// Numbers that are not on the board: of earlier runs, or too far ahead.
    returned: Returned,
    returned_fans: HashMap<PlaceNumber, UserId>,
    /// Numbers of earlier runs that were let in or left in this one.
    spent: HashSet<PlaceNumber>,
}

impl Line {
    pub(super) fn starting(now: Timestamp) -> Line {
        let base = u64::try_from(now.ms()).unwrap_or(0) * NUMBERS_PER_MS;
        Line {
            next: base,
            board: Arc::new(Board::starting_at(base)),
            fans: Fans::default(),
            returned: Returned::default(),
            returned_fans: HashMap::new(),
            spent: HashSet::new(),
        }
    }

    pub(super) fn board(&self) -> Arc<Board> {
        self.board.clone()
    }

    pub(super) fn len(&self) -> u64 {
        self.board.len() + self.returned.len()
    }

    /// The first number that waits, or the next to be given.
    pub(super) fn front(&self) -> PlaceNumber {
        self.first().unwrap_or(self.next)
    }

    /// How many wait with a smaller number.
    pub(super) fn ahead(&self, number: PlaceNumber) -> u64 {
        let on_board = match self.board.offset(number) {
            Some(offset) => self.board.count_below(offset),
            None if number < self.board.base() => 0,
            None => self.board.len(),
        };
        on_board + self.returned.count_below(number)
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
        match self.board.offset(number) {
            Some(offset) => {
                self.fans.put(offset, fan);
                assert!(self.board.insert(offset), "a number is given once");
            }
            None => self.put_elsewhere(fan, number),
        }
    }

    /// Puts the fan back at a number from an earlier run. Numbers of this run do not come back:
    /// whoever had one and is not in line has been let in or has left.
    pub(super) fn put_back(&mut self, fan: UserId, number: PlaceNumber) -> bool {
        if self.is_of_this_run(number) || self.is_taken(number) {
            return false;
        }
        self.put_elsewhere(fan, number);
        true
    }

    fn put_elsewhere(&mut self, fan: UserId, number: PlaceNumber) {
        self.returned.insert(number);
        self.returned_fans.insert(number, fan);
        self.board.set_elsewhere(self.returned.len());
    }

    pub(super) fn remove(&mut self, number: PlaceNumber) -> Option<UserId> {
        if let Some(offset) = self.board.offset(number)
            && self.board.remove(offset)
        {
            return Some(self.fans.at(offset));
        }
        let fan = self.returned_fans.remove(&number)?;
        self.returned.remove(number);
        self.board.set_elsewhere(self.returned.len());
        self.spent.insert(number);
        Some(fan)
    }

    /// Takes the fan with the smallest number out of the line.
    pub(super) fn pop_first(&mut self) -> Option<(PlaceNumber, UserId)> {
        let number = self.first()?;
        self.remove(number).map(|fan| (number, fan))
    }

    fn first(&self) -> Option<PlaceNumber> {
        let arrived = self.board.first().map(|offset| self.board.base() + offset as u64);
        [arrived, self.returned.first()].into_iter().flatten().min()
    }

    /// Was the number given, or set aside, in this run?
    pub(super) fn is_of_this_run(&self, number: PlaceNumber) -> bool {
        (self.board.base()..self.next).contains(&number)
    }

    /// Is the number from before this run?
    pub(super) fn is_earlier(&self, number: PlaceNumber) -> bool {
        number < self.board.base()
    }

    /// This number was let in before the engine lost its memory.
    pub(super) fn mark_spent(&mut self, number: PlaceNumber) {
        self.spent.insert(number);
    }

    /// Was the number, of an earlier run, let in or given up in this one?
    pub(super) fn is_spent(&self, number: PlaceNumber) -> bool {
        self.spent.contains(&number)
    }

    /// Of the numbers that are still to be given: did somebody bring it along?
    fn is_taken(&self, number: PlaceNumber) -> bool {
        self.returned_fans.contains_key(&number) || self.is_spent(number)
    }
}

const FANS_PER_CHUNK: usize = 4_096;

/// Who has which number on the board, sixteen bytes each. Chunks, so that growing copies nothing.
#[derive(Default)]
struct Fans {
    chunks: Vec<Box<[UserId]>>,
}

impl Fans {
    fn put(&mut self, offset: usize, fan: UserId) {
        while self.chunks.len() <= offset / FANS_PER_CHUNK {
            self.chunks.push(vec![UserId::new(Uuid::nil()); FANS_PER_CHUNK].into());
        }
        self.chunks[offset / FANS_PER_CHUNK][offset % FANS_PER_CHUNK] = fan;
    }

    fn at(&self, offset: usize) -> UserId {
        self.chunks[offset / FANS_PER_CHUNK][offset % FANS_PER_CHUNK]
    }
}
