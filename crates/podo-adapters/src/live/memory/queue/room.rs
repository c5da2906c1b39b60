//! The waiting room of one schedule. Every method is one atomic step: the caller holds the lock.

#[path = "room_restoring.rs"]
mod restoring;

use crate::live::memory::queue::entries::Entries;
use crate::live::memory::queue::line::WaitingLine;
use crate::live::memory::queue::lobby::{Lobby, Slot};
use crate::live::memory::queue::outflow::Outflow;
use crate::live::waiting_index::WaitingIndex;
use podo_app::waiting_room::port::queue::{Admission, PlaceProof};
use podo_domain::waiting_room::draw;
use podo_domain::waiting_room::{
    AdmitBudget, Draw, Entry, Grant, Need, PlaceNumber, QueueCounts, QueuePosition, QueueRules,
    RETURN_WINDOW, fans_to_admit, may_enter,
};
use podo_domain::{Refusal, Timestamp, UserId};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// One lifetime of an engine. In a new epoch it may have lost its last writes.
pub(crate) type Epoch = u64;

#[derive(Clone)]
pub(crate) struct Room {
    opened_at: Timestamp,
    /// The epoch in which the store's live entries were restored.
    opened_in: Option<Epoch>,
    /// The room isn't open in the current epoch, so writes may be missing.
    is_stale: bool,
    /// A fan was restored to the line, or may be: this room replaces a lost one.
    has_returned: bool,
    /// The draw is due: no fan can join the lobby any more.
    is_closing: bool,
    opening: Opening,
    line: WaitingLine,
    /// The places of fans who aren't inside.
    places: HashMap<UserId, Packed>,
    entries: Entries,
    budget: Option<AdmitBudget>,
    outflow: Outflow,
    n_admitted: u64,
    n_left: u64,
    n_expired: u64,
}

#[derive(Clone)]
enum Opening {
    Ahead(Lobby),
    Drawn(Drawn),
}

/// The drawn order of the lobby.
#[derive(Clone)]
struct Drawn {
    draw: Draw,
    ranks: Arc<[u32]>,
    /// Numbers whose fans the engine lost.
    unclaimed: HashSet<PlaceNumber>,
}

impl Drawn {
    fn number(&self, index: u32) -> Option<PlaceNumber> {
        let rank = self.ranks.get(index as usize)?;
        Some(self.draw.first + u64::from(*rank))
    }
}

enum QueuePlace {
    Lobby(u32),
    Line(PlaceNumber),
}

/// A place in eight bytes, because a room keeps a million of them.
#[derive(Clone, Copy)]
struct Packed(u64);

const IN_LOBBY: u64 = 1 << 63;

impl From<QueuePlace> for Packed {
    fn from(place: QueuePlace) -> Packed {
        match place {
            QueuePlace::Lobby(index) => Packed(IN_LOBBY | u64::from(index)),
            QueuePlace::Line(number) => Packed(number),
        }
    }
}

impl Packed {
    fn place(self) -> QueuePlace {
        match u32::try_from(self.0 ^ IN_LOBBY) {
            Ok(index) => QueuePlace::Lobby(index),
            Err(_) => QueuePlace::Line(self.0),
        }
    }
}

impl Room {
    /// An empty room that isn't open. Every number ever assigned is below `base`.
    pub(crate) fn new(base: PlaceNumber, now: Timestamp) -> Room {
        Room {
            opened_at: now,
            opened_in: None,
            is_stale: true,
            has_returned: false,
            is_closing: false,
            opening: Opening::Ahead(Lobby::default()),
            line: WaitingLine::above(base),
            places: HashMap::new(),
            entries: Entries::default(),
            budget: None,
            outflow: Outflow::starting(now),
            n_admitted: 0,
            n_left: 0,
            n_expired: 0,
        }
    }

    /// The index that can be read without the room's lock.
    pub(crate) fn waiting_index(&self) -> Arc<WaitingIndex> {
        self.line.waiting_index()
    }

    /// Every access to a room begins with this. Returns whether it is open.
    pub(crate) fn is_open_in(&mut self, epoch: Epoch) -> bool {
        self.is_stale = self.opened_in != Some(epoch);
        !self.is_stale
    }

    pub(crate) fn enter(
        &mut self,
        rules: &QueueRules,
        fan: UserId,
        place_proof: Option<PlaceProof>,
        now: Timestamp,
    ) -> Result<Result<QueuePosition, Refusal>, Need> {
        self.catch_up(rules, now)?;
        if let Some(position) = self.find(fan, place_proof, now) {
            return Ok(Ok(position));
        }
        // A fan who proves a place isn't new, and can come back even while no one can join.
        let place = match place_proof.and_then(|proof| self.take_back(fan, proof)) {
            Some(place) => place,
            None => match may_enter(&rules.settings) {
                Ok(()) => self.join(fan)?,
                Err(refusal) => return Ok(Err(refusal)),
            },
        };
        Ok(Ok(self.settle(rules, fan, place, now)))
    }

    pub(crate) fn come_back(
        &mut self,
        rules: &QueueRules,
        fan: UserId,
        proof: PlaceProof,
        now: Timestamp,
    ) -> Result<QueuePosition, Need> {
        self.catch_up(rules, now)?;
        if let Some(position) = self.find(fan, Some(proof), now) {
            return Ok(position);
        }
        Ok(match self.take_back(fan, proof) {
            Some(place) => self.settle(rules, fan, place, now),
            None => self.look(fan),
        })
    }

    pub(crate) fn position(
        &mut self,
        rules: &QueueRules,
        fan: UserId,
        now: Timestamp,
    ) -> Result<QueuePosition, Need> {
        self.catch_up(rules, now)?;
        Ok(self.look(fan))
    }

    pub(crate) fn leave(&mut self, fan: UserId, now: Timestamp) {
        self.sweep(now);
        self.entries.forget_lapsed(fan);
        let was_inside = self.entries.remove(fan);
        let place = self.places.remove(&fan).map(Packed::place);
        let was_here = was_inside || place.is_some();
        match (place, &mut self.opening) {
            (Some(QueuePlace::Line(number)), _) => {
                self.line.remove(number);
            }
            (Some(QueuePlace::Lobby(index)), Opening::Ahead(lobby)) => lobby.leave(index),
            (Some(QueuePlace::Lobby(_)), Opening::Drawn(_)) => {
                unreachable!("the draw moves every fan into the line")
            }
            (None, _) => (),
        }
        self.n_left += u64::from(was_here);
    }

    pub(crate) fn end_entry(&mut self, fan: UserId, number: PlaceNumber, now: Timestamp) {
        self.sweep(now);
        self.entries.forget_lapsed(fan);
        if self.entries.number_of(fan) == Some(number) {
            self.entries.remove(fan);
            self.n_left += 1;
        }
    }

    pub(crate) fn entry(&mut self, fan: UserId, now: Timestamp) -> Option<Entry> {
        self.sweep(now);
        self.entries.claim(fan).filter(|entry| entry.is_live(now))
    }

    pub(crate) fn extend(
        &mut self,
        rules: &QueueRules,
        fan: UserId,
        now: Timestamp,
    ) -> Result<Result<Entry, Refusal>, Need> {
        self.catch_up(rules, now)?;
        let Some(entry) = self.entries.claim(fan) else { return Ok(Err(Refusal::EntryExpired)) };
        let longer = entry.extended(&rules.settings, now);
        if let Ok(longer) = longer {
            self.entries.set(fan, longer);
        }
        Ok(longer)
    }

    pub(crate) fn admit(
        &mut self,
        rules: &QueueRules,
        now: Timestamp,
    ) -> Result<Vec<Admission>, Need> {
        self.catch_up(rules, now)?;
        Ok(self.let_in(rules, now))
    }

    fn let_in(&mut self, rules: &QueueRules, now: Timestamp) -> Vec<Admission> {
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

    /// Takes the store's grant.
    pub(crate) fn take(&mut self, grant: Grant, seed: &[u8; 32]) {
        if let Some(draw) = grant.draw {
            self.take_draw(draw, seed);
        }
        if let Some(numbers) = grant.numbers {
            self.line.use_block(numbers);
        }
        if let (Some(indexes), Opening::Ahead(lobby)) = (grant.indexes, &mut self.opening) {
            lobby.use_block(indexes);
        }
    }

    /// Whether fans gather or wait here.
    pub(crate) fn is_busy(&self) -> bool {
        let is_gathering = match &self.opening {
            Opening::Ahead(lobby) => lobby.n_indexes() > 0,
            Opening::Drawn(_) => false,
        };
        is_gathering || self.line.len() > 0
    }

    pub(crate) fn counts(&mut self, now: Timestamp) -> QueueCounts {
        self.sweep(now);
        let (gathered, drawn) = match &self.opening {
            Opening::Ahead(lobby) => (lobby.n_gathered(), 0),
            Opening::Drawn(drawn) => (0, u64::from(drawn.draw.n_drawn)),
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

    /// The fan's place, unless they prove a later one: then the room has lost the fan's departure
    /// from the first.
    fn find(
        &mut self,
        fan: UserId,
        proof: Option<PlaceProof>,
        now: Timestamp,
    ) -> Option<QueuePosition> {
        let place = self.places.get(&fan).map(|place| place.place());
        if place.is_none() && !self.entries.contains(fan) {
            return None;
        }
        let is_later = match (place, proof, &self.opening) {
            (Some(QueuePlace::Line(known)), Some(PlaceProof::Line { number }), _) => {
                known < number && self.can_come_back(number)
            }
            (
                Some(QueuePlace::Lobby(known)),
                Some(PlaceProof::Lobby { index }),
                Opening::Ahead(lobby),
            ) => known < index && lobby.is_free(index),
            (Some(QueuePlace::Line(_) | QueuePlace::Lobby(_)) | None, _, _) => false,
        };
        if is_later {
            self.leave(fan, now);
            return None;
        }
        Some(self.look(fan))
    }

    fn can_come_back(&self, number: PlaceNumber) -> bool {
        match &self.opening {
            // A number above ours comes from a clock that ran ahead. Before the draw it could
            // collide with the numbers that the draw reserves.
            Opening::Ahead(_) => self.line.is_earlier(number) && self.line.is_free(number),
            Opening::Drawn(drawn) => drawn.unclaimed.contains(&number) || self.line.is_free(number),
        }
    }

    fn settle(
        &mut self,
        rules: &QueueRules,
        fan: UserId,
        place: QueuePlace,
        now: Timestamp,
    ) -> QueuePosition {
        self.places.insert(fan, place.into());
        self.entries.forget_lapsed(fan);
        // Alone in line: the fan takes a free slot at once and overtakes no one.
        if self.line.len() == 1 {
            self.let_in(rules, now);
        }
        self.look(fan)
    }

    /// Applies what time alone changes: ended slots, and the opening.
    fn catch_up(&mut self, rules: &QueueRules, now: Timestamp) -> Result<(), Need> {
        self.sweep(now);
        let Opening::Ahead(lobby) = &self.opening else { return Ok(()) };
        if now < rules.opens_at && !self.is_closing {
            return Ok(());
        }
        let (n_gathered, block) = (lobby.n_indexes(), lobby.block_from());
        if n_gathered > 0 {
            self.is_closing = true;
            return Err(Need::Draw { n_gathered, block, above: self.line.next() });
        }
        let draw = Draw { n_drawn: 0, first: 0 };
        let (ranks, unclaimed) = (Arc::from([]), HashSet::new());
        self.opening = Opening::Drawn(Drawn { draw, ranks, unclaimed });
        Ok(())
    }

    /// Expires slots, but not in a room that may have lost a claim: an unclaimed entry may be in
    /// use.
    fn sweep(&mut self, now: Timestamp) {
        if !self.is_stale {
            self.n_expired += self.entries.sweep(now);
        }
    }

    /// Moves every fan from the lobby into the line, once.
    fn take_draw(&mut self, draw: Draw, seed: &[u8; 32]) {
        let Opening::Ahead(lobby) = &self.opening else { return };
        let ranks: Arc<[u32]> = draw::permutation(seed, draw.n_drawn).into();
        // Numbers drawn before this room existed are restored like any others.
        let is_ours = self.line.reserve_drawn(draw);
        let mut unclaimed = HashSet::new();
        for (index, rank) in (0..).zip(ranks.iter()) {
            let number = draw.first + u64::from(*rank);
            match lobby.slot(index) {
                Slot::Gathered(fan) if !is_ours => {
                    self.places.remove(&fan);
                }
                Slot::Unclaimed if !is_ours => (),
                Slot::Gathered(fan) => {
                    self.line.put(fan, number);
                    self.places.insert(fan, QueuePlace::Line(number).into());
                }
                Slot::Unclaimed if !self.line.is_spent(number) => {
                    unclaimed.insert(number);
                }
                Slot::Unclaimed | Slot::Left => (),
            }
        }
        self.opening = Opening::Drawn(Drawn { draw, ranks, unclaimed });
    }

    /// Restores the proven place, if it is still available.
    fn take_back(&mut self, fan: UserId, proof: PlaceProof) -> Option<QueuePlace> {
        let number = match (proof, &mut self.opening) {
            (PlaceProof::Lobby { index }, Opening::Ahead(lobby)) => {
                return lobby.gather_again(fan, index).then_some(QueuePlace::Lobby(index));
            }
            (PlaceProof::Lobby { index }, Opening::Drawn(drawn)) => drawn.number(index)?,
            (PlaceProof::Line { number }, _) => number,
        };
        if !self.can_come_back(number) {
            return None;
        }
        let is_unclaimed = match &mut self.opening {
            Opening::Ahead(_) => false,
            Opening::Drawn(drawn) => drawn.unclaimed.remove(&number),
        };
        match is_unclaimed {
            true => self.line.put(fan, number),
            false => assert!(self.line.put_back(fan, number), "the number is free"),
        }
        self.has_returned = true;
        Some(QueuePlace::Line(number))
    }

    fn join(&mut self, fan: UserId) -> Result<QueuePlace, Need> {
        match &mut self.opening {
            Opening::Ahead(lobby) => lobby.gather(fan).map(QueuePlace::Lobby).ok_or(Need::Indexes),
            Opening::Drawn(_) => {
                let place = self.line.join(fan).map(QueuePlace::Line);
                place.ok_or(Need::Numbers { above: self.line.next() })
            }
        }
    }

    fn admit_first(&mut self, rules: &QueueRules, now: Timestamp) -> Admission {
        let (number, fan) = self.line.pop_first().expect("no more fans are admitted than wait");
        self.places.remove(&fan);
        let entry = Entry::starting(number, &rules.settings, now);
        self.entries.add(fan, entry, false);
        Admission { fan, entry }
    }

    /// The fan's position. Reading it claims a new entry.
    fn look(&mut self, fan: UserId) -> QueuePosition {
        if let Some(entry) = self.entries.claim(fan) {
            return QueuePosition::Inside(entry);
        }
        let place = self.places.get(&fan).map(|place| place.place());
        match (place, &self.opening) {
            (Some(QueuePlace::Line(number)), _) => self.look_in_line(number),
            (Some(QueuePlace::Lobby(index)), Opening::Ahead(lobby)) => {
                QueuePosition::Lobby { index, n_gathered: lobby.n_gathered() }
            }
            (Some(QueuePlace::Lobby(_)), Opening::Drawn(_)) => {
                unreachable!("the draw moves every fan into the line")
            }
            (None, _) if self.entries.has_lapsed(fan) => QueuePosition::Expired,
            (None, _) => QueuePosition::Absent,
        }
    }

    fn look_in_line(&self, number: PlaceNumber) -> QueuePosition {
        let ahead = self.line.ahead(number);
        QueuePosition::Waiting { number, ahead, behind: self.line.len() - ahead - 1 }
    }
}
