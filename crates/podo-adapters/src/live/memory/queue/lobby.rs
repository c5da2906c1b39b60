//! The lobby: fans who arrive before the opening, each with an index for the draw.

use podo_domain::UserId;
use podo_domain::waiting_room::LOBBY_INDEX_MAX;
use std::ops::Range;

#[derive(Clone, Copy)]
pub(crate) enum Slot {
    Gathered(UserId),
    /// The fan left; the index is never assigned again.
    Left,
    /// Assigned before the engine lost its state, or never; its fan may come back for it.
    Unclaimed,
}

#[derive(Clone, Default)]
pub(crate) struct Lobby {
    slots: Vec<Slot>,
    n_gathered: u64,
    /// The start of the current index block.
    block_from: u32,
    /// The rest of the block.
    block: Range<u32>,
}

impl Lobby {
    pub(crate) fn n_gathered(&self) -> u64 {
        self.n_gathered
    }

    /// The size of the draw: all assigned indexes are below it.
    pub(crate) fn n_indexes(&self) -> u32 {
        u32::try_from(self.slots.len()).expect("an index is a u32")
    }

    pub(crate) fn block_from(&self) -> u32 {
        self.block_from
    }

    pub(crate) fn slot(&self, index: u32) -> Slot {
        self.slots.get(index as usize).copied().unwrap_or(Slot::Unclaimed)
    }

    /// Assigns the next index; none if the block is used up.
    pub(crate) fn gather(&mut self, fan: UserId) -> Option<u32> {
        let mut left = self.block.clone();
        let index = left.find(|index| self.is_free(*index));
        self.block = left;
        self.put(fan, index?);
        index
    }

    /// Assigns indexes from this block, unless the current one has some left.
    pub(crate) fn use_block(&mut self, block: Range<u32>) {
        if self.block.is_empty() && self.block.end <= block.start {
            self.block_from = block.start;
            self.block = block;
        }
    }

    /// Drops the rest of the block, which may have been assigned in lost writes. So may any index
    /// below `n_indexes`, which is drawn all the same.
    pub(crate) fn drop_block(&mut self, n_indexes: u32) {
        self.block = n_indexes..n_indexes;
        self.reach(n_indexes);
    }

    /// Whether an absent fan could have this index.
    pub(crate) fn is_free(&self, index: u32) -> bool {
        index <= LOBBY_INDEX_MAX && matches!(self.slot(index), Slot::Unclaimed)
    }

    /// Restores the fan's index. Returns false if another fan has it; any other index is then as
    /// good, because the draw is uniform.
    pub(crate) fn gather_again(&mut self, fan: UserId, index: u32) -> bool {
        let is_free = self.is_free(index);
        if is_free {
            self.put(fan, index);
        }
        is_free
    }

    pub(crate) fn leave(&mut self, index: u32) {
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
