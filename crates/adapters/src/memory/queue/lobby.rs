//! The lobby: those who gather before the opening, each with an index that the draw goes by.

use domain::UserId;

/// An index above this is not believed: the draw would need more memory than there is.
const INDEX_MAX: u32 = 10_000_000;

#[derive(Clone, Copy)]
pub(super) enum Slot {
    Gathered(UserId),
    /// The fan left; nobody gets this index again.
    Left,
    /// Given before the engine lost its memory; its fan may come back for it.
    Unclaimed,
}

#[derive(Default)]
pub(super) struct Lobby {
    slots: Vec<Slot>,
    n_gathered: u64,
}

impl Lobby {
    pub(super) fn n_gathered(&self) -> u64 {
        self.n_gathered
    }

    /// Every index ever given, in order: the draw goes over all of them.
    pub(super) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    pub(super) fn gather(&mut self, fan: UserId) -> u32 {
        let index = u32::try_from(self.slots.len()).expect("fewer fans than people on earth");
        self.slots.push(Slot::Gathered(fan));
        self.n_gathered += 1;
        index
    }

    /// Gives the fan back the index they had. False when it is somebody else's now: then any
    /// other is as good, because the draw treats all alike.
    pub(super) fn gather_again(&mut self, fan: UserId, index: u32) -> bool {
        if index > INDEX_MAX {
            return false;
        }
        let at = index as usize;
        if self.slots.len() <= at {
            self.slots.resize(at + 1, Slot::Unclaimed);
        }
        match self.slots[at] {
            Slot::Unclaimed => {
                self.slots[at] = Slot::Gathered(fan);
                self.n_gathered += 1;
                true
            }
            Slot::Gathered(_) | Slot::Left => false,
        }
    }

    pub(super) fn leave(&mut self, index: u32) {
        self.slots[index as usize] = Slot::Left;
        self.n_gathered -= 1;
    }
}
