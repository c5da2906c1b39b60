//! The contract for lost writes: an engine that comes back without any suffix of its writes issues
//! no number or index twice, and the places that fans know are restored.

use crate::waiting_room::port::contract::stage::{SECOND, Stage, fan};
use crate::waiting_room::port::queue::{
    Admission, FanPlace, PlaceProof, Queue, Remembered, Survey,
};
use async_trait::async_trait;
use podo_domain::Timestamp;
use podo_domain::waiting_room::draw;
use podo_domain::waiting_room::{Entry, QueuePosition, QueueRules, RETURN_WINDOW};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// An engine whose last writes can be dropped, as in a fail-over to a lagging replica.
#[async_trait]
pub trait LosesTail: Send {
    fn queue(&self) -> Arc<dyn Queue>;

    /// Called before every step, for engines that keep no log of their writes.
    fn before_step(&mut self) {}

    /// Brings the engine back without its last writes.
    async fn lose_tail(&mut self, n_writes: usize);
}

const START: Timestamp = Timestamp::from_ms(1_900_000_000_000);
const N_STEPS: u64 = 40;
const MAX_ACTIVE: u32 = 3;

/// Plays a sale for each seed, drops a random number of its last writes, and continues.
pub async fn check_lost_tails(engine: &mut dyn LosesTail, seeds: Range<u64>) {
    for seed in seeds {
        // In most sales fans gather first, so the loss happens before the opening, after it, or
        // includes it.
        let opens_at = START.plus([0, 2, 5, 60][(seed % 4) as usize] * SECOND);
        let mut sale = Sale::new(engine, seed, opens_at);
        for _ in 0..N_STEPS {
            sale.step().await;
        }
        let n_lost =
            usize::try_from(1 + sale.below(N_STEPS)).expect("the number of steps is small");
        let survey = sale.queue.survey(sale.rules.schedule, sale.now).await;
        sale.engine.lose_tail(n_lost).await;
        sale.refuses_old_survey(survey.expect("the engine answers")).await;
        sale.everybody_comes_back().await;
        for number in 1..=sale.n_fans {
            sale.check_fan(number).await;
        }
        sale.check_order().await;
        let removed = sale.queue.remove(sale.rules.schedule).await;
        removed.expect("the engine answers");
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum KnownPlace {
    Index(u32),
    Number(u64),
}

impl KnownPlace {
    fn proof(self) -> PlaceProof {
        match self {
            KnownPlace::Index(index) => PlaceProof::Lobby { index },
            KnownPlace::Number(number) => PlaceProof::Line { number },
        }
    }
}

/// A sale as the nodes run it, with the knowledge of the store and the fans.
struct Sale<'e> {
    engine: &'e mut dyn LosesTail,
    queue: Arc<dyn Queue>,
    rules: QueueRules,
    seed: u64,
    rng: u64,
    now: Timestamp,
    n_fans: u64,
    owners: BTreeMap<KnownPlace, u64>,
    /// The last place that each fan was given, and how many fans are ahead.
    told: BTreeMap<u64, (KnownPlace, u64)>,
    indexes: BTreeMap<u64, u32>,
    /// The store's entries: live ones and ended ones.
    inside: BTreeMap<u64, Entry>,
    over: BTreeMap<u64, u64>,
}

impl Sale<'_> {
    fn new(engine: &mut dyn LosesTail, seed: u64, opens_at: Timestamp) -> Sale<'_> {
        let queue = engine.queue();
        let rules = Stage::closed(&*queue, (seed, 201), MAX_ACTIVE, opens_at).rules;
        Sale {
            engine,
            queue,
            rules,
            seed,
            rng: seed,
            now: START,
            n_fans: 0,
            owners: BTreeMap::new(),
            told: BTreeMap::new(),
            indexes: BTreeMap::new(),
            inside: BTreeMap::new(),
            over: BTreeMap::new(),
        }
    }

    fn below(&mut self, end: u64) -> u64 {
        self.rng = self.rng.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.rng >> 33) % end
    }

    fn any_fan(&mut self) -> u64 {
        1 + self.below(self.n_fans.max(1))
    }

    async fn step(&mut self) {
        self.engine.before_step();
        self.queue = self.engine.queue();
        match self.below(8) {
            0..=3 => self.join().await,
            4 => {
                let number = self.any_fan();
                self.poll(number).await;
            }
            5 => self.admit().await,
            6 => self.end_an_entry().await,
            _ => self.now = self.now.plus(Duration::from_millis(self.below(900))),
        }
    }

    async fn open(&self) {
        let inside = self.inside.iter().map(|(number, entry)| (fan(*number), *entry));
        let inside = inside.map(|(fan, entry)| Admission { fan, entry }).collect();
        let over = self.over.iter().map(|(number, owner)| (fan(*owner), *number));
        let over = over.map(|(fan, number)| FanPlace { fan, number }).collect();
        let remembered = Remembered { inside, over, epoch: None };
        let opened = self.queue.restore(&self.rules, &remembered, self.now).await;
        opened.expect("the engine answers");
    }

    /// A new fan enters.
    async fn join(&mut self) {
        self.n_fans += 1;
        let number = self.n_fans;
        loop {
            let entered = self.queue.enter(&self.rules, fan(number), None, self.now).await;
            if let Some(position) = entered.expect("the engine answers") {
                return self.record(number, position);
            }
            self.open().await;
        }
    }

    /// A fan polls with their proof, as the use case does.
    async fn poll(&mut self, number: u64) {
        let Some((place, _)) = self.told.get(&number).copied() else { return };
        let seen = self.queue.position(&self.rules, fan(number), None, self.now).await;
        let mut position = seen.expect("the engine answers").position;
        let is_over = self.over.values().any(|owner| *owner == number);
        while matches!(position, QueuePosition::Absent | QueuePosition::Expired) && !is_over {
            if self.inside.contains_key(&number) {
                self.open().await;
                let seen = self.queue.position(&self.rules, fan(number), None, self.now).await;
                position = seen.expect("the engine answers").position;
                break;
            }
            let back = self.queue.come_back(&self.rules, fan(number), place.proof(), self.now);
            match back.await.expect("the engine answers") {
                Some(back) => {
                    let is_gone = matches!(back, QueuePosition::Absent | QueuePosition::Expired);
                    assert!(!is_gone, "seed {}: {place:?} of fan {number} is gone", self.seed);
                    position = back;
                }
                None => self.open().await,
            }
        }
        if !is_over {
            self.record(number, position);
        }
    }

    async fn admit(&mut self) {
        let admitted = self.queue.admit(&self.rules, self.now).await.expect("the engine answers");
        let Some(admitted) = admitted else { return self.open().await };
        for Admission { fan, entry } in admitted {
            let number = fan.uuid().as_u128() as u64;
            self.record(number, QueuePosition::Inside(entry));
        }
    }

    /// A fan is done; the store records it first.
    async fn end_an_entry(&mut self) {
        let Some((number, entry)) = self.inside.pop_first() else { return };
        self.over.insert(entry.number, number);
        self.told.remove(&number);
        let ended = self.queue.end_entry(self.rules.schedule, fan(number), entry.number, self.now);
        ended.await.expect("the engine answers");
    }

    /// Each place belongs to one fan, and a fan's place never changes.
    fn record(&mut self, number: u64, position: QueuePosition) {
        let (place, ahead) = match position {
            QueuePosition::Lobby { index, .. } => (KnownPlace::Index(index), u64::MAX),
            QueuePosition::Waiting { number, ahead, .. } => (KnownPlace::Number(number), ahead),
            QueuePosition::Inside(entry) => (KnownPlace::Number(entry.number), 0),
            QueuePosition::Expired | QueuePosition::Absent => {
                panic!("seed {}: fan {number} got {position:?}", self.seed)
            }
        };
        let owner = *self.owners.entry(place).or_insert(number);
        assert_eq!(owner, number, "seed {}: {place:?} is issued twice", self.seed);
        if let Some((before @ KnownPlace::Number(_), _)) = self.told.get(&number) {
            assert_eq!(*before, place, "seed {}: the number of fan {number}", self.seed);
        }
        if let KnownPlace::Index(index) = place {
            let before = *self.indexes.entry(number).or_insert(index);
            assert_eq!(before, index, "seed {}: the index of fan {number}", self.seed);
        }
        if let QueuePosition::Inside(entry) = position {
            let known = *self.inside.entry(number).or_insert(entry);
            assert_eq!(known, entry, "seed {}: the entry of fan {number}", self.seed);
        }
        // A position from while other fans are still returning isn't binding.
        let known = self.told.get(&number).map_or(u64::MAX, |(_, ahead)| *ahead);
        self.told.insert(number, (place, ahead.min(known)));
    }

    /// The survey describes the room before the loss; the room may hold other entries now.
    async fn refuses_old_survey(&self, survey: Survey) {
        let queue = self.engine.queue();
        let remembered = Remembered { epoch: Some(survey.epoch), ..Remembered::default() };
        let opened = queue.restore(&self.rules, &remembered, self.now).await;
        assert!(opened.is_err(), "seed {}: opened by a survey of another life", self.seed);
    }

    /// Old and new fans poll in any order, a new one first. A room that was lost entirely admits
    /// fans until one returns to its queue; in that case a returning fan is first.
    async fn everybody_comes_back(&mut self) {
        self.queue = self.engine.queue();
        let n_before = self.n_fans;
        let promised = self.told.clone();
        let survey = self.queue.survey(self.rules.schedule, self.now).await;
        let first = self.below(n_before);
        match survey.expect("the engine answers").survivors {
            Some(_) => self.join().await,
            None => {
                for number in 1..=n_before {
                    self.poll(number).await;
                }
            }
        }
        for step in 0..n_before {
            self.poll(1 + (first + step * 7) % n_before).await;
            if self.below(4) == 0 {
                self.join().await;
            }
        }
        for number in 1..=n_before {
            self.poll(number).await;
        }
        // From here on the positions are binding again.
        for (number, told) in &mut self.told {
            told.1 = promised.get(number).map_or(u64::MAX, |(_, ahead)| *ahead);
        }
    }

    /// Checks that the fan has what they had before the loss.
    async fn check_fan(&mut self, number: u64) {
        let (seed, now) = (self.seed, self.now);
        let entry = self.queue.entry(self.rules.schedule, fan(number), now).await;
        let entry = entry.expect("the engine answers");
        assert_eq!(entry, self.inside.get(&number).copied(), "seed {seed}: fan {number}'s entry");
        let seen = self.queue.position(&self.rules, fan(number), None, now).await;
        let position = seen.expect("the engine answers").position;
        let Some((place, promised)) = self.told.get(&number).copied() else {
            assert_eq!(position, QueuePosition::Absent, "seed {seed}: fan {number} is done");
            return;
        };
        match position {
            QueuePosition::Waiting { number: now_at, ahead, .. } => {
                assert_eq!(place, KnownPlace::Number(now_at), "seed {seed}: fan {number}");
                assert!(ahead <= promised, "seed {seed}: fan {number}: {promised}, now {ahead}");
            }
            QueuePosition::Lobby { index, .. } => {
                assert_eq!(place, KnownPlace::Index(index), "seed {seed}: fan {number}");
            }
            QueuePosition::Inside(_) | QueuePosition::Expired | QueuePosition::Absent => {
                assert_eq!(Some(number), entry.map(|_| number), "seed {seed}: {position:?}");
            }
        }
    }

    /// No fan is admitted before every fan could return; then admission goes by number, and the
    /// seed gives the order of the lobby.
    async fn check_order(&mut self) {
        let (seed, schedule) = (self.seed, self.rules.schedule);
        self.now = self.now.max(self.rules.opens_at).plus(RETURN_WINDOW);
        for round in 0.. {
            assert!(round < 1_000, "seed {seed}: no fan is admitted");
            let n_inside = self.inside.len();
            self.admit().await;
            let counts = self.queue.counts(schedule, self.now).await.expect("the engine answers");
            assert!(counts.inside <= MAX_ACTIVE.into(), "seed {seed}: {counts:?}");
            if self.inside.len() == n_inside && counts.waiting == 0 {
                break;
            }
            self.check_front(counts.front);
            self.now = self.now.plus(SECOND);
            while self.inside.len() >= MAX_ACTIVE as usize {
                self.end_an_entry().await;
            }
        }
        let counts = self.queue.counts(schedule, self.now).await.expect("the engine answers");
        let n_drawn = u32::try_from(counts.drawn).expect("an index is a u32");
        let ranks = draw::permutation(&self.rules.draw_seed, n_drawn);
        let mut drawn: Vec<(u64, u32)> = Vec::new();
        for (number, index) in &self.indexes {
            let place = self.owners.iter().find_map(|(place, owner)| match place {
                KnownPlace::Number(place) if owner == number => Some(*place),
                KnownPlace::Number(_) | KnownPlace::Index(_) => None,
            });
            let place = place.unwrap_or_else(|| panic!("seed {seed}: fan {number} was not drawn"));
            drawn.push((place, ranks[*index as usize]));
        }
        drawn.sort_unstable();
        assert!(drawn.is_sorted_by_key(|(_, rank)| *rank), "seed {seed}: the order of the draw");
    }

    /// Every admitted number is smaller than every waiting one.
    fn check_front(&self, front: u64) {
        let last = self.inside.values().map(|entry| entry.number).max().unwrap_or(0);
        assert!(last < front, "seed {}: {last} was admitted before {front}", self.seed);
    }
}
