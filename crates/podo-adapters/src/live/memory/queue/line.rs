//! The line: who waits, by number, and how many fans are ahead of each.

use crate::live::memory::queue::returned::Returned;
use crate::live::waiting_index::WaitingIndex;
use podo_domain::UserId;
use podo_domain::waiting_room::{Draw, PlaceNumber};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use uuid::Uuid;

pub(crate) struct WaitingLine {
    /// The rest of the block that numbers are assigned from.
    block: Range<PlaceNumber>,
    /// The start of the consecutive numbers assigned up to the block's start.
    run: PlaceNumber,
    /// Numbers assigned or reserved before the run. A fan with one of these, or of the run, who
    /// isn't in line has been admitted or has left.
    given: Vec<Range<PlaceNumber>>,
    /// This room's numbers, readable without a lock.
    waiting_index: Arc<WaitingIndex>,
    /// The fans of those numbers.
    fans: Fans,
    /// Restored numbers, and numbers too far ahead for the index.
    returned: Returned,
    returned_fans: HashMap<PlaceNumber, UserId>,
    /// Numbers that this room didn't assign, but that were admitted or left in it.
    spent: HashSet<PlaceNumber>,
}

/// A copy has its own index.
impl Clone for WaitingLine {
    fn clone(&self) -> WaitingLine {
        WaitingLine {
            block: self.block.clone(),
            run: self.run,
            given: self.given.clone(),
            waiting_index: Arc::new(self.waiting_index.copy()),
            fans: self.fans.clone(),
            returned: self.returned.clone(),
            returned_fans: self.returned_fans.clone(),
            spent: self.spent.clone(),
        }
    }
}

impl WaitingLine {
    /// An empty line. Every number ever assigned is smaller than `base`.
    pub(crate) fn above(base: PlaceNumber) -> WaitingLine {
        WaitingLine {
            block: base..base,
            run: base,
            given: Vec::new(),
            waiting_index: Arc::new(WaitingIndex::starting_at(base)),
            fans: Fans::default(),
            returned: Returned::default(),
            returned_fans: HashMap::new(),
            spent: HashSet::new(),
        }
    }

    pub(crate) fn waiting_index(&self) -> Arc<WaitingIndex> {
        self.waiting_index.clone()
    }

    pub(crate) fn len(&self) -> u64 {
        self.waiting_index.len() + self.returned.len()
    }

    /// The first waiting number, or the next one to assign.
    pub(crate) fn front(&self) -> PlaceNumber {
        self.first().unwrap_or(self.block.start)
    }

    /// Numbers below this may have been assigned.
    pub(crate) fn next(&self) -> PlaceNumber {
        self.block.start
    }

    /// How many fans wait with a smaller number.
    pub(crate) fn ahead(&self, number: PlaceNumber) -> u64 {
        let on_board = match self.waiting_index.offset(number) {
            Some(offset) => self.waiting_index.count_below(offset),
            None if number < self.waiting_index.base() => 0,
            None => self.waiting_index.len(),
        };
        on_board + self.returned.count_below(number)
    }

    /// Appends the fan; none if the block is used up.
    pub(crate) fn join(&mut self, fan: UserId) -> Option<PlaceNumber> {
        // After a clock was set back, restored numbers can lie ahead.
        let Some(number) = self.block.clone().find(|number| !self.is_taken(*number)) else {
            self.block.start = self.block.end;
            return None;
        };
        self.block.start = number + 1;
        self.put(fan, number);
        Some(number)
    }

    /// Assigns numbers from this block, unless the current one has some left. A late block may
    /// begin below numbers assigned since.
    pub(crate) fn use_block(&mut self, block: Range<PlaceNumber>) {
        if !self.block.is_empty() {
            return;
        }
        let from = block.start.max(self.block.start);
        if from != self.block.start {
            self.end_run(from);
        }
        self.block = from..block.end.max(from);
    }

    /// Drops the rest of the block, which may have been assigned in lost writes.
    pub(crate) fn drop_block(&mut self) {
        self.block.end = self.block.start;
    }

    /// Reserves the numbers of the draw. Returns false if they predate this room.
    pub(crate) fn reserve_drawn(&mut self, draw: Draw) -> bool {
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

    /// Puts the fan at a reserved number.
    pub(crate) fn put(&mut self, fan: UserId, number: PlaceNumber) {
        assert!(self.was_given(number), "the number belongs to this room");
        match self.waiting_index.offset(number) {
            Some(offset) => {
                self.fans.put(offset, fan);
                assert!(self.waiting_index.insert(offset), "a number is assigned once");
            }
            None => self.put_elsewhere(fan, number),
        }
    }

    /// Whether a fan can be restored to this number. Not if this room assigned it: its fan has then
    /// been admitted or has left, or is in line.
    pub(crate) fn is_free(&self, number: PlaceNumber) -> bool {
        !self.was_given(number) && !self.is_taken(number)
    }

    /// Restores the fan to a free number.
    pub(crate) fn put_back(&mut self, fan: UserId, number: PlaceNumber) -> bool {
        let is_free = self.is_free(number);
        if is_free {
            self.put_elsewhere(fan, number);
        }
        is_free
    }

    fn put_elsewhere(&mut self, fan: UserId, number: PlaceNumber) {
        self.returned.insert(number);
        self.returned_fans.insert(number, fan);
        self.waiting_index.set_elsewhere(self.returned.len());
    }

    pub(crate) fn remove(&mut self, number: PlaceNumber) -> Option<UserId> {
        if let Some(offset) = self.waiting_index.offset(number)
            && self.waiting_index.remove(offset)
        {
            return Some(self.fans.at(offset));
        }
        let fan = self.returned_fans.remove(&number)?;
        self.returned.remove(number);
        self.waiting_index.set_elsewhere(self.returned.len());
        self.spent.insert(number);
        Some(fan)
    }

    /// Removes the fan with the smallest number from the line.
    pub(crate) fn pop_first(&mut self) -> Option<(PlaceNumber, UserId)> {
        let number = self.first()?;
        self.remove(number).map(|fan| (number, fan))
    }

    fn first(&self) -> Option<PlaceNumber> {
        let arrived =
            self.waiting_index.first().map(|offset| self.waiting_index.base() + offset as u64);
        [arrived, self.returned.first()].into_iter().flatten().min()
    }

    /// Whether this room knows that the number was assigned or reserved.
    pub(crate) fn was_given(&self, number: PlaceNumber) -> bool {
        let run = self.run..self.block.start;
        run.contains(&number) || self.given.iter().any(|given| given.contains(&number))
    }

    /// Whether the number predates this room.
    pub(crate) fn is_earlier(&self, number: PlaceNumber) -> bool {
        number < self.waiting_index.base()
    }

    /// Marks a number that was admitted before the engine lost its state.
    pub(crate) fn mark_spent(&mut self, number: PlaceNumber) {
        self.spent.insert(number);
    }

    /// Whether a number that this room didn't assign was admitted or left in it.
    pub(crate) fn is_spent(&self, number: PlaceNumber) -> bool {
        self.spent.contains(&number)
    }

    /// Whether a fan was restored to this number, which is still to be assigned.
    fn is_taken(&self, number: PlaceNumber) -> bool {
        self.returned_fans.contains_key(&number) || self.is_spent(number)
    }
}

const FANS_PER_CHUNK: usize = 4_096;

/// The fans by number, sixteen bytes each. Chunked, so that growth copies nothing.
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
