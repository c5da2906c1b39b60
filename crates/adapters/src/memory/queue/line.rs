//! The line: who waits, by number, and how many are ahead of whom.

use super::board::Board;
use super::returned::Returned;
use domain::UserId;
use domain::queue::{Draw, PlaceNumber};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use uuid::Uuid;

pub(super) struct Line {
    /// What is left of the block that numbers are given from.
    block: Range<PlaceNumber>,
    /// Where the numbers begin that were given one after the other up to the block's start.
    run: PlaceNumber,
    /// Numbers that were given or set aside before them. Whoever had one of these, or of the run,
    /// and is not in line has been let in or has left.
    given: Vec<Range<PlaceNumber>>,
    /// Numbers of this room, for anybody to read.
    board: Arc<Board>,
    /// Who has them.
    fans: Fans,
    /// Numbers that came back, or are too far ahead for the board.
    returned: Returned,
    returned_fans: HashMap<PlaceNumber, UserId>,
    /// Numbers that this room did not give, which were let in or left in it.
    spent: HashSet<PlaceNumber>,
}

/// A copy has a board of its own.
impl Clone for Line {
    fn clone(&self) -> Line {
        Line {
            block: self.block.clone(),
            run: self.run,
            given: self.given.clone(),
            board: Arc::new(self.board.copy()),
            fans: self.fans.clone(),
            returned: self.returned.clone(),
            returned_fans: self.returned_fans.clone(),
            spent: self.spent.clone(),
        }
    }
}

impl Line {
    /// An empty line. Every number that was ever given is smaller than `base`.
    pub(super) fn above(base: PlaceNumber) -> Line {
        Line {
            block: base..base,
            run: base,
            given: Vec::new(),
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
        self.first().unwrap_or(self.block.start)
    }

    /// Numbers below this may have been given.
    pub(super) fn next(&self) -> PlaceNumber {
        self.block.start
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

    /// Puts the fan at the end; nothing when the block is used up.
    pub(super) fn join(&mut self, fan: UserId) -> Option<PlaceNumber> {
        // After a clock was set back, numbers that fans brought along can lie ahead.
        let Some(number) = self.block.clone().find(|number| !self.is_taken(*number)) else {
            self.block.start = self.block.end;
            return None;
        };
        self.block.start = number + 1;
        self.put(fan, number);
        Some(number)
    }

    /// Gives numbers from this block on, unless there are some left. A block that comes late begins
    /// below numbers that were given since.
    pub(super) fn use_block(&mut self, block: Range<PlaceNumber>) {
        if !self.block.is_empty() {
            return;
        }
        let from = block.start.max(self.block.start);
        if from != self.block.start {
            self.end_run(from);
        }
        self.block = from..block.end.max(from);
    }

    /// What is left of the block may have been given in writes that were lost.
    pub(super) fn drop_block(&mut self) {
        self.block.end = self.block.start;
    }

    /// Sets the numbers of the draw aside. False when they are from before this room.
    pub(super) fn set_aside(&mut self, draw: Draw) -> bool {
        if draw.first < self.block.start {
            return false;
        }
        self.end_run(draw.first);
        let behind = draw.first + u64::from(draw.n_drawn);
        self.block = behind..behind;
        true
    }

    fn end_run(&mut self, next: PlaceNumber) {
        if self.run < self.block.start {
            self.given.push(self.run..self.block.start);
        }
        self.run = next;
    }

    /// Puts the fan at a number that was set aside.
    pub(super) fn put(&mut self, fan: UserId, number: PlaceNumber) {
        assert!(self.was_given(number), "the number is of this room");
        match self.board.offset(number) {
            Some(offset) => {
                self.fans.put(offset, fan);
                assert!(self.board.insert(offset), "a number is given once");
            }
            None => self.put_elsewhere(fan, number),
        }
    }

    /// Can somebody come back to this number? Not to one that this room gave: whoever had it and is
    /// not in line has been let in or has left.
    pub(super) fn is_free(&self, number: PlaceNumber) -> bool {
        !self.was_given(number) && !self.is_taken(number)
    }

    /// Puts the fan back at a number that is free.
    pub(super) fn put_back(&mut self, fan: UserId, number: PlaceNumber) -> bool {
        let is_free = self.is_free(number);
        if is_free {
            self.put_elsewhere(fan, number);
        }
        is_free
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

    /// Does this room know that the number was given, or set aside?
    pub(super) fn was_given(&self, number: PlaceNumber) -> bool {
        let run = self.run..self.block.start;
        run.contains(&number) || self.given.iter().any(|given| given.contains(&number))
    }

    /// Is the number from before this room?
    pub(super) fn is_earlier(&self, number: PlaceNumber) -> bool {
        number < self.board.base()
    }

    /// This number was let in before the engine lost its memory.
    pub(super) fn mark_spent(&mut self, number: PlaceNumber) {
        self.spent.insert(number);
    }

    /// Was the number, which this room did not give, let in or given up in it?
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
#[derive(Clone, Default)]
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
