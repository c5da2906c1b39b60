//! The lobby: those who gather before the opening, each with an index that the draw goes by.

use domain::UserId;
use std::ops::Range;

/// An index above this is not believed: the draw would need more memory than there is.
const INDEX_MAX: u32 = 10_000_000;

#[derive(Clone, Copy)]
pub(super) enum Slot {
    Gathered(UserId),
    /// The fan left; nobody gets this index again.
    Left,
    /// Given before the engine lost its memory, or never; its fan may come back for it.
    Unclaimed,
}

#[derive(Clone, Default)]
pub(super) struct Lobby {
    slots: Vec<Slot>,
    n_gathered: u64,
    /// Where the block begins that indexes are given from.
    block_from: u32,
    /// What is left of it.
    block: Range<u32>,
}

impl Lobby {
    pub(super) fn n_gathered(&self) -> u64 {
        self.n_gathered
    }

    /// The draw goes over this many indexes: all that were given lie below.
    pub(super) fn n_indexes(&self) -> u32 {
        u32::try_from(self.slots.len()).expect("an index is a u32")
    }

    pub(super) fn block_from(&self) -> u32 {
        self.block_from
    }

    pub(super) fn slot(&self, index: u32) -> Slot {
        self.slots.get(index as usize).copied().unwrap_or(Slot::Unclaimed)
    }

    /// The next index; nothing when the block is used up.
    pub(super) fn gather(&mut self, fan: UserId) -> Option<u32> {
        let mut left = self.block.clone();
        let index = left.find(|index| self.is_free(*index));
        self.block = left;
        self.put(fan, index?);
        index
    }

    /// Gives indexes from this block on, unless there are some left.
    pub(super) fn use_block(&mut self, block: Range<u32>) {
        if self.block.is_empty() && self.block.end <= block.start {
            self.block_from = block.start;
            self.block = block;
        }
    }

    /// What is left of the block may have been given in writes that were lost; so may whatever lies
    /// below `n_indexes`, and is drawn all the same.
    pub(super) fn drop_block(&mut self, n_indexes: u32) {
        self.block = n_indexes..n_indexes;
        self.reach(n_indexes);
    }

    /// Could somebody have this index who is not here?
    pub(super) fn is_free(&self, index: u32) -> bool {
        index <= INDEX_MAX && matches!(self.slot(index), Slot::Unclaimed)
    }

    /// Gives the fan back the index they had. False when it is somebody else's now: then any
    /// other is as good, because the draw treats all alike.
    pub(super) fn gather_again(&mut self, fan: UserId, index: u32) -> bool {
        let is_free = self.is_free(index);
        if is_free {
            self.put(fan, index);
        }
        is_free
    }

    pub(super) fn leave(&mut self, index: u32) {
        self.slots[index as usize] = Slot::Left;
        self.n_gathered -= 1;
    }

    fn put(&mut self, fan: UserId, index: u32) {
        self.reach(index + 1);
        self.slots[index as usize] = Slot::Gathered(fan);
        self.n_gathered += 1;
    }

    fn reach(&mut self, n_indexes: u32) {
        let n_slots = self.slots.len().max(n_indexes as usize);
        self.slots.resize(n_slots, Slot::Unclaimed);
    }
}
