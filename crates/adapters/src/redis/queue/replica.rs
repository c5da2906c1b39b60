//! A node's copy of one waiting room: who waits, by number, and who gathers, by index. Polls are
//! answered from it.

use super::arrivals::Arrivals;
use crate::memory::queue::returned::Returned;
use app::ports::queue::Returning;
use domain::draw;
use domain::queue::{PlaceNumber, Standing};
use std::sync::Arc;

/// Numbers further from the first of this run are kept as returned ones: a clock that ran ahead
/// must not cost memory.
const OFFSET_MAX: u64 = 1 << 26;

/// What a room tells with every answer to a node that asks for changes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Facts {
    /// The first number of this run.
    pub(super) base: PlaceNumber,
    pub(super) is_drawn: bool,
    pub(super) opening: Opening,
}

/// What a room that was lost has to be told, so that those who gathered find their places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Opening {
    /// How many places of the lobby were given.
    pub(super) n_lobby: u32,
    /// Over how many of them the draw went, at its end.
    pub(super) n_drawn: u32,
    pub(super) drawn_first: PlaceNumber,
}

/// One thing that happened in a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Join(PlaceNumber),
    Leave(PlaceNumber),
    /// Everybody up to this number was let in.
    Admit(PlaceNumber),
    Gather(u32),
    Go(u32),
}

pub(super) struct Replica {
    pub(super) facts: Facts,
    /// The last change that is part of it.
    pub(super) seen: String,
    arrived: Arrivals,
    returned: Returned,
    gathered: Arrivals,
    /// The place of each who gathered, once it is drawn.
    ranks: Arc<[u32]>,
}

impl Replica {
    pub(super) fn empty(facts: Facts, seen: String) -> Replica {
        Replica {
            facts,
            seen,
            arrived: Arrivals::default(),
            returned: Returned::default(),
            gathered: Arrivals::default(),
            ranks: Arc::from([]),
        }
    }

    /// Changes may come twice: a copy is made while the room goes on.
    pub(super) fn apply(&mut self, change: Change) {
        match change {
            Change::Join(number) => self.join(number),
            Change::Leave(number) => self.leave(number),
            Change::Admit(up_to) => {
                while let Some(first) = self.first().filter(|first| *first <= up_to) {
                    self.leave(first);
                }
            }
            Change::Gather(index) => {
                self.gathered.insert(index as usize);
            }
            Change::Go(index) => {
                self.gathered.remove(index as usize);
            }
        }
    }

    /// Learns what the room said, and the order once it is drawn: a pure function of the seed.
    pub(super) fn learn(&mut self, facts: Facts, seen: String, seed: &[u8; 32]) {
        let n_drawn = facts.opening.n_drawn;
        if self.ranks.len() != n_drawn as usize {
            self.ranks = draw::permutation(seed, n_drawn).into();
        }
        (self.facts, self.seen) = (facts, seen);
    }

    /// The ranks are the same in every copy of one draw.
    pub(super) fn take_ranks_of(&mut self, before: &Replica) {
        self.ranks = before.ranks.clone();
    }

    /// Where the fan with this proof stands, if the copy knows it.
    pub(super) fn standing(&self, proof: Returning) -> Option<Standing> {
        match proof {
            Returning::Line { number } => self.waiting(number),
            Returning::Lobby { index } if !self.facts.is_drawn => {
                let n_gathered = self.gathered.len();
                let is_here = self.gathered.contains(index as usize);
                is_here.then_some(Standing::Lobby { index, n_gathered })
            }
            Returning::Lobby { index } => self.waiting(self.number_drawn(index)?),
        }
    }

    /// The number that the draw gave to a place of the lobby.
    fn number_drawn(&self, index: u32) -> Option<PlaceNumber> {
        let rank = self.ranks.get(index as usize)?;
        Some(self.facts.opening.drawn_first + u64::from(*rank))
    }

    /// The same proof for a room that was drawn before it was lost: by the number.
    pub(super) fn translate(&self, proof: Returning) -> Returning {
        let is_earlier = self.facts.opening.drawn_first < self.facts.base;
        match proof {
            Returning::Lobby { index } if is_earlier => match self.number_drawn(index) {
                Some(number) => Returning::Line { number },
                None => proof,
            },
            Returning::Lobby { .. } | Returning::Line { .. } => proof,
        }
    }

    fn waiting(&self, number: PlaceNumber) -> Option<Standing> {
        let offset = self.offset(number);
        let is_here = match offset {
            Some(offset) => self.arrived.contains(offset),
            None => self.returned.contains(number),
        };
        let n_arrived = match offset {
            Some(offset) => self.arrived.count_below(offset),
            None if number < self.facts.base => 0,
            None => self.arrived.len(),
        };
        let ahead = n_arrived + self.returned.count_below(number);
        let n_waiting = self.arrived.len() + self.returned.len();
        is_here.then(|| Standing::Waiting { number, ahead, behind: n_waiting - ahead - 1 })
    }

    fn join(&mut self, number: PlaceNumber) {
        match self.offset(number) {
            Some(offset) => self.arrived.insert(offset),
            None => self.returned.insert(number),
        };
    }

    fn leave(&mut self, number: PlaceNumber) {
        match self.offset(number) {
            Some(offset) => self.arrived.remove(offset),
            None => self.returned.remove(number),
        };
    }

    fn first(&self) -> Option<PlaceNumber> {
        let arrived = self.arrived.first().map(|offset| self.facts.base + offset as u64);
        [arrived, self.returned.first()].into_iter().flatten().min()
    }

    fn offset(&self, number: PlaceNumber) -> Option<usize> {
        let offset = number.checked_sub(self.facts.base).filter(|offset| *offset < OFFSET_MAX)?;
        usize::try_from(offset).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replica(n_drawn: u32, drawn_first: PlaceNumber) -> Replica {
        let opening = Opening { n_lobby: n_drawn, n_drawn, drawn_first };
        let facts = Facts { base: 1_000, is_drawn: true, opening };
        let mut replica = Replica::empty(Facts { base: 1_000, ..Facts::default() }, String::new());
        replica.learn(facts, "1-1".into(), &[7; 32]);
        replica
    }

    fn ahead(replica: &Replica, number: PlaceNumber) -> Option<u64> {
        match replica.standing(Returning::Line { number })? {
            Standing::Waiting { ahead, .. } => Some(ahead),
            Standing::Lobby { .. } | Standing::Inside(_) | Standing::Expired | Standing::Absent => {
                None
            }
        }
    }

    #[test]
    fn numbers_of_every_run_are_counted_together() {
        let mut replica = replica(0, 0);
        for number in [1_000, 1_005, 7, 1_000 + OFFSET_MAX, 9, 1_005] {
            replica.apply(Change::Join(number));
        }
        let order = [7, 9, 1_000, 1_005, 1_000 + OFFSET_MAX];
        for (place, number) in (0..).zip(order) {
            assert_eq!(ahead(&replica, number), Some(place));
        }
        replica.apply(Change::Leave(9));
        replica.apply(Change::Leave(9));
        replica.apply(Change::Admit(1_000));
        assert_eq!((ahead(&replica, 7), ahead(&replica, 1_000)), (None, None));
        assert_eq!((ahead(&replica, 1_005), ahead(&replica, order[4])), (Some(0), Some(1)));
    }

    #[test]
    fn a_place_of_the_lobby_becomes_the_number_that_was_drawn() {
        let ranks = draw::permutation(&[7; 32], 4);
        let mut replica = replica(4, 1_100);
        for rank in &ranks {
            replica.apply(Change::Join(1_100 + u64::from(*rank)));
        }
        for (index, rank) in (0..).zip(&ranks) {
            let standing = replica.standing(Returning::Lobby { index });
            let (number, ahead) = (1_100 + u64::from(*rank), u64::from(*rank));
            assert_eq!(standing, Some(Standing::Waiting { number, ahead, behind: 3 - ahead }));
        }
        assert_eq!(replica.standing(Returning::Lobby { index: 4 }), None);
        let proof = Returning::Lobby { index: 1 };
        assert_eq!(replica.translate(proof), proof, "the room knows its own draw");
    }

    #[test]
    fn after_a_loss_a_place_of_the_lobby_is_proved_by_its_number() {
        let ranks = draw::permutation(&[7; 32], 4);
        let replica = replica(4, 100);
        let number = 100 + u64::from(ranks[2]);
        let translated = replica.translate(Returning::Lobby { index: 2 });
        assert_eq!(translated, Returning::Line { number });
    }
}
