//! A node's replica of one waiting room: the line by number, and the lobby by index. It answers a
//! poll if it has both the number and the fan.

use crate::live::memory::queue::returned::Returned;
use crate::live::waiting_index::WaitingIndex;
use podo_app::waiting_room::port::queue::PlaceProof;
use podo_domain::UserId;
use podo_domain::waiting_room::draw;
use podo_domain::waiting_room::{PlaceNumber, QueuePosition};
use std::collections::HashMap;
use std::sync::Arc;

/// The facts that a room sends with every list of changes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RoomFacts {
    /// The first number of this run.
    pub(crate) base: PlaceNumber,
    pub(crate) is_drawn: bool,
    pub(crate) opening: Opening,
}

/// The state of a room's lobby and draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Opening {
    /// The number of assigned lobby indexes.
    pub(crate) n_lobby: u32,
    /// The size of the draw, once complete.
    pub(crate) n_drawn: u32,
    pub(crate) drawn_first: PlaceNumber,
}

/// Identifies a place's fan by the last four bytes of the id, which are random. It adds four
/// megabytes to the replica of a million places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tag(Option<u32>);

impl Tag {
    pub(crate) fn of(fan: UserId) -> Tag {
        Tag(Some(fan.uuid().as_u128() as u32))
    }

    pub(crate) fn of_text(text: &str) -> Tag {
        Tag(u32::from_str_radix(text, 16).ok())
    }
}

/// The last change seen, and the server's epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) change: String,
    pub(crate) epoch: String,
}

/// One change of a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Join(PlaceNumber, Tag),
    Leave(PlaceNumber),
    /// Every fan up to this number was admitted.
    Admit(PlaceNumber),
    Gather(u32, Tag),
    Go(u32),
}

/// The fans' tags of a dense range of places.
#[derive(Default)]
struct Tags(Vec<u32>);

impl Tags {
    fn set(&mut self, offset: usize, tag: Tag) {
        if self.0.len() <= offset {
            self.0.resize(offset + 1, 0);
        }
        self.0[offset] = tag.0.unwrap_or_default();
    }

    fn is(&self, offset: usize, tag: Tag) -> bool {
        tag.0.is_some_and(|tag| self.0.get(offset) == Some(&tag))
    }
}

pub(crate) struct Replica {
    pub(crate) facts: RoomFacts,
    /// The last change applied.
    pub(crate) seen: Moment,
    arrived: WaitingIndex,
    arrived_tags: Tags,
    returned: Returned,
    returned_tags: HashMap<PlaceNumber, Tag>,
    gathered: WaitingIndex,
    gathered_tags: Tags,
    /// The rank of each lobby index, once drawn.
    ranks: Arc<[u32]>,
}

impl Replica {
    pub(crate) fn empty(facts: RoomFacts, seen: Moment) -> Replica {
        Replica {
            facts,
            seen,
            arrived: WaitingIndex::starting_at(0),
            arrived_tags: Tags::default(),
            returned: Returned::default(),
            returned_tags: HashMap::new(),
            gathered: WaitingIndex::starting_at(0),
            gathered_tags: Tags::default(),
            ranks: Arc::from([]),
        }
    }

    /// Applies a change. Changes may repeat, because a replica is copied while the room changes.
    pub(crate) fn apply(&mut self, change: Change) {
        match change {
            Change::Join(number, tag) => self.join(number, tag),
            Change::Leave(number) => self.leave(number),
            Change::Admit(up_to) => {
                while let Some(first) = self.first().filter(|first| *first <= up_to) {
                    self.leave(first);
                }
            }
            Change::Gather(index, tag) => {
                self.gathered.insert(index as usize);
                self.gathered_tags.set(index as usize, tag);
            }
            Change::Go(index) => {
                self.gathered.remove(index as usize);
            }
        }
    }

    /// Takes the room's facts, and computes the order once it is drawn: a pure function of the
    /// seed.
    pub(crate) fn learn(&mut self, facts: RoomFacts, seen: Moment, seed: &[u8; 32]) {
        let n_drawn = facts.opening.n_drawn;
        if self.ranks.len() != n_drawn as usize {
            self.ranks = draw::permutation(seed, n_drawn).into();
        }
        (self.facts, self.seen) = (facts, seen);
    }

    /// Reuses the ranks, which are the same in every replica of one draw.
    pub(crate) fn take_ranks_of(&mut self, before: &Replica) {
        self.ranks = before.ranks.clone();
    }

    /// The position for this proof, if the replica knows it.
    pub(crate) fn position(&self, proof: PlaceProof, fan: UserId) -> Option<QueuePosition> {
        let tag = Tag::of(fan);
        match proof {
            PlaceProof::Line { number } => self.waiting(number, tag),
            PlaceProof::Lobby { index } if !self.facts.is_drawn => {
                let (at, n_gathered) = (index as usize, self.gathered.len());
                let is_here = self.gathered.contains(at) && self.gathered_tags.is(at, tag);
                is_here.then_some(QueuePosition::Lobby { index, n_gathered })
            }
            PlaceProof::Lobby { index } => self.waiting(self.number_drawn(index)?, tag),
        }
    }

    /// The number drawn for a lobby index.
    pub(crate) fn number_drawn(&self, index: u32) -> Option<PlaceNumber> {
        let rank = self.ranks.get(index as usize)?;
        Some(self.facts.opening.drawn_first + u64::from(*rank))
    }

    fn waiting(&self, number: PlaceNumber, tag: Tag) -> Option<QueuePosition> {
        let offset = self.offset(number);
        let is_here = match offset {
            Some(offset) => self.arrived.contains(offset) && self.arrived_tags.is(offset, tag),
            None => self.returned_tags.get(&number) == Some(&tag),
        };
        let n_arrived = match offset {
            Some(offset) => self.arrived.count_below(offset),
            None if number < self.facts.base => 0,
            None => self.arrived.len(),
        };
        let ahead = n_arrived + self.returned.count_below(number);
        let n_waiting = self.arrived.len() + self.returned.len();
        is_here.then(|| QueuePosition::Waiting { number, ahead, behind: n_waiting - ahead - 1 })
    }

    fn join(&mut self, number: PlaceNumber, tag: Tag) {
        match self.offset(number) {
            Some(offset) => {
                self.arrived.insert(offset);
                self.arrived_tags.set(offset, tag);
            }
            None => {
                self.returned.insert(number);
                self.returned_tags.insert(number, tag);
            }
        }
    }

    fn leave(&mut self, number: PlaceNumber) {
        match self.offset(number) {
            Some(offset) => self.arrived.remove(offset),
            None => {
                self.returned_tags.remove(&number);
                self.returned.remove(number)
            }
        };
    }

    fn first(&self) -> Option<PlaceNumber> {
        let arrived = self.arrived.first().map(|offset| self.facts.base + offset as u64);
        [arrived, self.returned.first()].into_iter().flatten().min()
    }

    /// Numbers further from the first of this run than the index reaches are kept as returned ones,
    /// so that a clock that ran ahead can't cost memory.
    fn offset(&self, number: PlaceNumber) -> Option<usize> {
        self.arrived.offset(number.checked_sub(self.facts.base)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    const OFFSET_MAX: u64 = <WaitingIndex>::OFFSET_MAX as u64;

    fn fan(number: u64) -> UserId {
        UserId::new(Uuid::from_u128(number.into()))
    }

    /// Each number belongs to the fan of the same number.
    fn join(replica: &mut Replica, number: PlaceNumber) {
        replica.apply(Change::Join(number, Tag::of(fan(number))));
    }

    fn replica(n_drawn: u32, drawn_first: PlaceNumber) -> Replica {
        let opening = Opening { n_lobby: n_drawn, n_drawn, drawn_first };
        let facts = RoomFacts { base: 1_000, is_drawn: true, opening };
        let empty = RoomFacts { base: 1_000, ..RoomFacts::default() };
        let mut replica = Replica::empty(empty, Moment::default());
        replica.learn(facts, Moment { change: "1-1".into(), epoch: "a".into() }, &[7; 32]);
        replica
    }

    fn ahead(replica: &Replica, number: PlaceNumber) -> Option<u64> {
        match replica.position(PlaceProof::Line { number }, fan(number))? {
            QueuePosition::Waiting { ahead, .. } => Some(ahead),
            QueuePosition::Lobby { .. }
            | QueuePosition::Inside(_)
            | QueuePosition::Expired
            | QueuePosition::Absent => None,
        }
    }

    #[test]
    fn numbers_of_every_run_are_counted_together() {
        let mut replica = replica(0, 0);
        for number in [1_000, 1_005, 7, 1_000 + OFFSET_MAX, 9, 1_005] {
            join(&mut replica, number);
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
    fn a_number_answers_its_fan_alone() {
        let mut replica = replica(0, 0);
        for number in [7, 1_000] {
            join(&mut replica, number);
            let proof = PlaceProof::Line { number };
            assert!(replica.position(proof, fan(number)).is_some());
            assert_eq!(replica.position(proof, fan(number + 1)), None);
            replica.apply(Change::Join(number, Tag::of_text("")));
            assert_eq!(replica.position(proof, fan(number)), None, "the place has no tag");
        }
        replica.facts.is_drawn = false;
        replica.apply(Change::Gather(3, Tag::of(fan(3))));
        let proof = PlaceProof::Lobby { index: 3 };
        assert!(replica.position(proof, fan(3)).is_some());
        assert_eq!(replica.position(proof, fan(4)), None);
    }

    #[test]
    fn a_place_of_the_lobby_becomes_the_number_that_was_drawn() {
        let ranks = draw::permutation(&[7; 32], 4);
        let mut replica = replica(4, 1_100);
        for rank in &ranks {
            join(&mut replica, 1_100 + u64::from(*rank));
        }
        for (index, rank) in (0..).zip(&ranks) {
            let (number, ahead) = (1_100 + u64::from(*rank), u64::from(*rank));
            let position = replica.position(PlaceProof::Lobby { index }, fan(number));
            assert_eq!(position, Some(QueuePosition::Waiting { number, ahead, behind: 3 - ahead }));
        }
        assert_eq!(replica.position(PlaceProof::Lobby { index: 4 }, fan(1_104)), None);
    }
}
