//! The live entries, ordered by when their slots become free, and the recently expired ones.

use podo_domain::waiting_room::{CLAIM_WINDOW, Entry, LAPSED_FOR, LAPSED_MAX, PlaceNumber};
use podo_domain::{Timestamp, UserId};
use std::collections::{BTreeSet, HashMap, VecDeque};

#[derive(Clone, Copy)]
struct Slot {
    entry: Entry,
    /// The fan has been seen since their admission.
    is_claimed: bool,
}

impl Slot {
    fn ends_at(&self) -> Timestamp {
        if self.is_claimed {
            return self.entry.expires_at;
        }
        self.entry.expires_at.min(self.entry.admitted_at.plus(CLAIM_WINDOW))
    }
}

#[derive(Clone, Default)]
pub(crate) struct Entries {
    slots: HashMap<UserId, Slot>,
    by_end: BTreeSet<(Timestamp, UserId)>,
    lapsed: HashMap<UserId, Timestamp>,
    lapsed_by_age: VecDeque<(Timestamp, UserId)>,
}

impl Entries {
    /// Frees the slots that ended by `now` and returns their number. Every step begins with this,
    /// so the remaining ones are live.
    pub(crate) fn sweep(&mut self, now: Timestamp) -> u64 {
        let mut n_freed = 0;
        while let Some((ends_at, fan)) = self.by_end.first().copied() {
            if now < ends_at {
                break;
            }
            self.remove(fan);
            self.remember_lapsed(fan, now);
            n_freed += 1;
        }
        n_freed
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn add(&mut self, fan: UserId, entry: Entry, is_claimed: bool) {
        let slot = Slot { entry, is_claimed };
        assert!(self.slots.insert(fan, slot).is_none(), "a fan has one entry");
        self.by_end.insert((slot.ends_at(), fan));
        self.lapsed.remove(&fan);
    }

    pub(crate) fn contains(&self, fan: UserId) -> bool {
        self.slots.contains_key(&fan)
    }

    pub(crate) fn get(&self, fan: UserId) -> Option<Entry> {
        self.slots.get(&fan).map(|slot| slot.entry)
    }

    pub(crate) fn oldest(&self) -> Option<PlaceNumber> {
        self.slots.values().map(|slot| slot.entry.number).min()
    }

    pub(crate) fn number_of(&self, fan: UserId) -> Option<PlaceNumber> {
        self.slots.get(&fan).map(|slot| slot.entry.number)
    }

    /// The fan's entry. Reading it claims it.
    pub(crate) fn claim(&mut self, fan: UserId) -> Option<Entry> {
        let slot = *self.slots.get(&fan)?;
        if !slot.is_claimed {
            self.set(fan, slot.entry);
        }
        Some(slot.entry)
    }

    /// Replaces an existing entry.
    pub(crate) fn set(&mut self, fan: UserId, entry: Entry) {
        self.remove(fan);
        self.add(fan, entry, true);
    }

    pub(crate) fn remove(&mut self, fan: UserId) -> bool {
        let Some(slot) = self.slots.remove(&fan) else { return false };
        assert!(self.by_end.remove(&(slot.ends_at(), fan)), "every slot is indexed by its end");
        true
    }

    pub(crate) fn has_lapsed(&self, fan: UserId) -> bool {
        self.lapsed.contains_key(&fan)
    }

    pub(crate) fn forget_lapsed(&mut self, fan: UserId) {
        self.lapsed.remove(&fan);
    }

    fn remember_lapsed(&mut self, fan: UserId, now: Timestamp) {
        self.lapsed.insert(fan, now);
        self.lapsed_by_age.push_back((now, fan));
        while let Some((since, fan)) = self.lapsed_by_age.front().copied() {
            let is_old = now.since(since) >= LAPSED_FOR;
            if !is_old && self.lapsed_by_age.len() <= LAPSED_MAX as usize {
                break;
            }
            self.lapsed_by_age.pop_front();
            // The fan may have been inside again since.
            if self.lapsed.get(&fan) == Some(&since) {
                self.lapsed.remove(&fan);
            }
        }
    }
}
