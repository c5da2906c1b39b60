//! The waiting room of one schedule. Every method is one atomic step: the caller holds the lock.

use super::board::Board;
use super::entries::Entries;
use super::line::Line;
use super::lobby::{Lobby, Slot};
use super::outflow::Outflow;
use app::ports::queue::{Admission, Returning};
use domain::queue::{
    AdmitBudget, Entry, PlaceNumber, QueueCounts, QueueRules, RETURN_WINDOW, Standing,
    fans_to_admit, may_enter,
};
use domain::{Refusal, Timestamp, UserId, draw};
use std::collections::HashMap;
use std::sync::Arc;

pub(super) struct Room {
    opened_at: Timestamp,
    /// Those who were inside when it was made are counted.
    is_open: bool,
    /// Somebody came back to the line: this room replaces one that was lost.
    has_returned: bool,
    opening: Opening,
    line: Line,
    /// Where those stand who are not inside.
    places: HashMap<UserId, Packed>,
    entries: Entries,
    budget: Option<AdmitBudget>,
    outflow: Outflow,
    n_admitted: u64,
    n_left: u64,
    n_expired: u64,
}

enum Opening {
    Ahead(Lobby),
    Drawn {
        n_drawn: u32,
        /// Numbers of those who gathered before the engine lost its memory, by their index.
        unclaimed: HashMap<u32, PlaceNumber>,
    },
}

enum Place {
    Lobby(u32),
    Line(PlaceNumber),
}

/// A place in eight bytes: a million of them are kept.
#[derive(Clone, Copy)]
struct Packed(u64);

const IN_LOBBY: u64 = 1 << 63;

impl From<Place> for Packed {
    fn from(place: Place) -> Packed {
        match place {
            Place::Lobby(index) => Packed(IN_LOBBY | u64::from(index)),
            Place::Line(number) => Packed(number),
        }
    }
}

impl Packed {
    fn place(self) -> Place {
        match u32::try_from(self.0 ^ IN_LOBBY) {
            Ok(index) => Place::Lobby(index),
            Err(_) => Place::Line(self.0),
        }
    }
}

impl Room {
    pub(super) fn new(now: Timestamp) -> Room {
        Room {
            opened_at: now,
            is_open: false,
            has_returned: false,
            opening: Opening::Ahead(Lobby::default()),
            line: Line::starting(now),
            places: HashMap::new(),
            entries: Entries::default(),
            budget: None,
            outflow: Outflow::starting(now),
            n_admitted: 0,
            n_left: 0,
            n_expired: 0,
        }
    }

    /// What may be read without the room's lock.
    pub(super) fn board(&self) -> Arc<Board> {
        self.line.board()
    }

    pub(super) fn enter(
        &mut self,
        rules: &QueueRules,
        fan: UserId,
        returning: Option<Returning>,
        now: Timestamp,
    ) -> Result<Standing, Refusal> {
        self.catch_up(rules, now);
        if self.is_here(fan) {
            return Ok(self.look(fan));
        }
        // Whoever proves a place is not new: they may come back even while nobody may join.
        let place = match returning.and_then(|proof| self.take_back(fan, proof)) {
            Some(place) => place,
            None => {
                may_enter(&rules.settings)?;
                self.join(fan)
            }
        };
        Ok(self.settle(rules, fan, place, now))
    }

    pub(super) fn come_back(
        &mut self,
        rules: &QueueRules,
        fan: UserId,
        proof: Returning,
        now: Timestamp,
    ) -> Standing {
        self.catch_up(rules, now);
        if self.is_here(fan) {
            return self.look(fan);
        }
        match self.take_back(fan, proof) {
            Some(place) => self.settle(rules, fan, place, now),
            None => self.look(fan),
        }
    }

    pub(super) fn standing(&mut self, rules: &QueueRules, fan: UserId, now: Timestamp) -> Standing {
        self.catch_up(rules, now);
        self.look(fan)
    }

    pub(super) fn leave(&mut self, fan: UserId, now: Timestamp) {
        self.sweep(now);
        self.entries.forget_lapsed(fan);
        let was_inside = self.entries.remove(fan);
        let place = self.places.remove(&fan).map(Packed::place);
        let was_here = was_inside || place.is_some();
        match (place, &mut self.opening) {
            (Some(Place::Line(number)), _) => {
                self.line.remove(number);
            }
            (Some(Place::Lobby(index)), Opening::Ahead(lobby)) => lobby.leave(index),
            (Some(Place::Lobby(_)), Opening::Drawn { .. }) => {
                unreachable!("the draw moves everybody into the line")
            }
            (None, _) => (),
        }
        self.n_left += u64::from(was_here);
    }

    pub(super) fn end_entry(&mut self, fan: UserId, number: PlaceNumber, now: Timestamp) {
        self.sweep(now);
        self.entries.forget_lapsed(fan);
        if self.entries.number_of(fan) == Some(number) {
            self.entries.remove(fan);
            self.n_left += 1;
        }
    }

    pub(super) fn entry(&mut self, fan: UserId, now: Timestamp) -> Option<Entry> {
        self.sweep(now);
        self.entries.claim(fan)
    }

    pub(super) fn extend(
        &mut self,
        rules: &QueueRules,
        fan: UserId,
        now: Timestamp,
    ) -> Result<Entry, Refusal> {
        self.catch_up(rules, now);
        let entry = self.entries.claim(fan).ok_or(Refusal::EntryExpired)?;
        let longer = entry.extended(&rules.settings, now)?;
        self.entries.set(fan, longer);
        Ok(longer)
    }

    pub(super) fn admit(&mut self, rules: &QueueRules, now: Timestamp) -> Vec<Admission> {
        self.catch_up(rules, now);
        let is_gathering_again = self.has_returned && now < self.opened_at.plus(RETURN_WINDOW);
        if now < rules.opens_at || is_gathering_again {
            return Vec::new();
        }
        let settings = &rules.settings;
        let rate = settings.admit_per_second;
        let budget = self.budget.get_or_insert_with(|| AdmitBudget::full(rate, now));
        let n_inside = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        let n = fans_to_admit(settings, n_inside, self.line.len(), budget.fans(rate, now));
        budget.spend(n);
        if n > 0 {
            self.outflow.add(n, now);
            self.n_admitted += u64::from(n);
        }
        (0..n).map(|_| self.admit_first(rules, now)).collect()
    }

    pub(super) fn restore(&mut self, rules: &QueueRules, entries: &[Admission], now: Timestamp) {
        self.sweep(now);
        let max_active = rules.settings.max_active as usize;
        for Admission { fan, entry } in entries {
            // A number that we gave, or that was spent since, stands for somebody who came back
            // before.
            let number = entry.number;
            let is_lost = !self.line.is_of_this_run(number) && !self.line.is_spent(number);
            if !is_lost || !entry.is_live(now) || self.entries.contains(*fan) {
                continue;
            }
            // Whoever was let in before the room was lost stays, however many they are. But since it
            // is open their slots may have gone to others.
            if self.is_open && max_active <= self.entries.len() {
                break;
            }
            // Somebody who came back before their entry did waits in line for what they have.
            if self.places.contains_key(fan) {
                self.leave(*fan, now);
            }
            self.line.mark_spent(entry.number);
            // Whether they had been seen is forgotten, and throwing out a fan who is choosing
            // seats is worse than an empty slot.
            self.entries.add(*fan, *entry, true);
        }
        self.is_open = true;
    }

    pub(super) fn counts(&mut self, now: Timestamp) -> QueueCounts {
        self.sweep(now);
        let (gathered, drawn) = match &self.opening {
            Opening::Ahead(lobby) => (lobby.n_gathered(), 0),
            Opening::Drawn { n_drawn, .. } => (0, u64::from(*n_drawn)),
        };
        QueueCounts {
            gathered,
            drawn,
            waiting: self.line.len(),
            front: self.line.front(),
            inside: self.entries.len() as u64,
            admitted: self.n_admitted,
            left: self.n_left,
            expired: self.n_expired,
            admitted_per_second: self.outflow.per_second(now),
        }
    }

    fn is_here(&self, fan: UserId) -> bool {
        self.places.contains_key(&fan) || self.entries.contains(fan)
    }

    fn settle(
        &mut self,
        rules: &QueueRules,
        fan: UserId,
        place: Place,
        now: Timestamp,
    ) -> Standing {
        self.places.insert(fan, place.into());
        self.entries.forget_lapsed(fan);
        // Alone in line: a free slot is theirs at once, and nobody is passed.
        if self.line.len() == 1 {
            self.admit(rules, now);
        }
        self.look(fan)
    }

    /// What time alone has changed: slots that ended, and the opening.
    fn catch_up(&mut self, rules: &QueueRules, now: Timestamp) {
        self.sweep(now);
        if rules.opens_at <= now {
            self.draw(&rules.draw_seed);
        }
    }

    fn sweep(&mut self, now: Timestamp) {
        self.n_expired += self.entries.sweep(now);
    }

    /// Moves everybody from the lobby into the line, once.
    fn draw(&mut self, seed: &[u8; 32]) {
        let Opening::Ahead(lobby) = &self.opening else { return };
        let n_drawn = u32::try_from(lobby.slots().len()).expect("an index is a u32");
        let first = self.line.set_aside(n_drawn);
        let mut unclaimed = HashMap::new();
        let ranks = draw::permutation(seed, n_drawn);
        for ((index, slot), rank) in (0..).zip(lobby.slots()).zip(ranks) {
            let number = first + u64::from(rank);
            match slot {
                Slot::Gathered(fan) => {
                    self.line.put(*fan, number);
                    self.places.insert(*fan, Place::Line(number).into());
                }
                Slot::Unclaimed => {
                    unclaimed.insert(index, number);
                }
                Slot::Left => (),
            }
        }
        self.opening = Opening::Drawn { n_drawn, unclaimed };
    }

    /// The place that the proof is about, if it is still to be had.
    fn take_back(&mut self, fan: UserId, proof: Returning) -> Option<Place> {
        let place = match (proof, &mut self.opening) {
            // A number above ours is from a clock that ran ahead. Before the draw it could meet
            // the numbers that the draw sets aside.
            (Returning::Line { number }, Opening::Ahead(_)) if !self.line.is_earlier(number) => {
                None
            }
            (Returning::Line { number }, _) => {
                self.line.put_back(fan, number).then_some(Place::Line(number))
            }
            (Returning::Lobby { index }, Opening::Ahead(lobby)) => {
                lobby.gather_again(fan, index).then_some(Place::Lobby(index))
            }
            (Returning::Lobby { index }, Opening::Drawn { unclaimed, .. }) => {
                unclaimed.remove(&index).map(|number| {
                    self.line.put(fan, number);
                    Place::Line(number)
                })
            }
        };
        self.has_returned |= matches!(place, Some(Place::Line(_)));
        place
    }

    fn join(&mut self, fan: UserId) -> Place {
        match &mut self.opening {
            Opening::Ahead(lobby) => Place::Lobby(lobby.gather(fan)),
            Opening::Drawn { .. } => Place::Line(self.line.join(fan)),
        }
    }

    fn admit_first(&mut self, rules: &QueueRules, now: Timestamp) -> Admission {
        let (number, fan) = self.line.pop_first().expect("no more are let in than wait");
        self.places.remove(&fan);
        let entry = Entry::starting(number, &rules.settings, now);
        self.entries.add(fan, entry, false);
        Admission { fan, entry }
    }

    /// Where the fan stands. Looking claims a fresh entry.
    fn look(&mut self, fan: UserId) -> Standing {
        if let Some(entry) = self.entries.claim(fan) {
            return Standing::Inside(entry);
        }
        let place = self.places.get(&fan).map(|place| place.place());
        match (place, &self.opening) {
            (Some(Place::Line(number)), _) => self.look_in_line(number),
            (Some(Place::Lobby(index)), Opening::Ahead(lobby)) => {
                Standing::Lobby { index, n_gathered: lobby.n_gathered() }
            }
            (Some(Place::Lobby(_)), Opening::Drawn { .. }) => {
                unreachable!("the draw moves everybody into the line")
            }
            (None, _) if self.entries.has_lapsed(fan) => Standing::Expired,
            (None, _) => Standing::Absent,
        }
    }

    fn look_in_line(&self, number: PlaceNumber) -> Standing {
        let ahead = self.line.ahead(number);
        Standing::Waiting { number, ahead, behind: self.line.len() - ahead - 1 }
    }
}
