//! The engine against a trivially simple model: ten thousand random days, with restarts.

use crate::live::memory::queue::tests::served::Served;
use crate::live::memory::queue::tests::{START, fan, rules};
use podo_app::waiting_room::port::queue::{Admission, PlaceProof};
use podo_domain::waiting_room::{
    AdmitBudget, CLAIM_WINDOW, QueueMode, QueuePosition, QueueRules, RETURN_WINDOW, fans_to_admit,
};
use podo_domain::{Timestamp, UserId};
use proptest::prelude::*;
use std::time::Duration;

#[derive(Clone, Copy, Debug)]
enum Step {
    Enter(u8),
    Look(u8),
    Leave(u8),
    Admit,
    Wait(u16),
    Mode(QueueMode),
    Cap(u32),
    /// The process dies and restarts. Waiting fans come back with their proofs, starting with the
    /// fan in this place.
    Restart(u8),
}

fn any_step() -> impl Strategy<Value = Step> {
    let mode = prop::sample::select(vec![
        QueueMode::Auto,
        QueueMode::Auto,
        QueueMode::Auto,
        QueueMode::Paused,
        QueueMode::Draining,
        QueueMode::Closed,
    ]);
    prop_oneof![
        6 => (0_u8..24).prop_map(Step::Enter),
        2 => (0_u8..24).prop_map(Step::Look),
        2 => (0_u8..24).prop_map(Step::Leave),
        4 => Just(Step::Admit),
        3 => (0_u16..40_000).prop_map(Step::Wait),
        1 => mode.prop_map(Step::Mode),
        1 => (1_u32..6).prop_map(Step::Cap),
        1 => (0_u8..24).prop_map(Step::Restart),
    ]
}

#[derive(Clone, Copy)]
struct Inside {
    fan: u8,
    claim_until: Option<Timestamp>,
    expires_at: Timestamp,
}

/// The rules again, in their simplest form.
struct Model {
    line: Vec<u8>,
    inside: Vec<Inside>,
    budget: Option<AdmitBudget>,
    /// After a loss, no admission before this.
    gathering_until: Option<Timestamp>,
    n_entered: u64,
    n_done: u64,
}

impl Model {
    fn sweep(&mut self, now: Timestamp) {
        let n_before = self.inside.len();
        self.inside.retain(|slot| {
            now < slot.expires_at && slot.claim_until.is_none_or(|until| now < until)
        });
        self.n_done += (n_before - self.inside.len()) as u64;
    }

    fn admit(&mut self, rules: &QueueRules, now: Timestamp) -> Vec<u8> {
        if self.gathering_until.is_some_and(|until| now < until) {
            return Vec::new();
        }
        let rate = rules.settings.admit_per_second;
        let budget = self.budget.get_or_insert_with(|| AdmitBudget::full(rate, now));
        let n_inside = self.inside.len() as u32;
        let n_may = budget.fans(rate, now);
        let n = fans_to_admit(&rules.settings, n_inside, self.line.len() as u64, n_may);
        budget.spend(n);
        let admitted: Vec<u8> = self.line.drain(..n as usize).collect();
        self.inside.extend(admitted.iter().map(|fan| Inside {
            fan: *fan,
            claim_until: Some(now.plus(CLAIM_WINDOW)),
            expires_at: now.plus(rules.settings.entry_ttl()),
        }));
        admitted
    }

    fn claim(&mut self, fan: u8) {
        self.inside.iter_mut().filter(|slot| slot.fan == fan).for_each(|slot| {
            slot.claim_until = None;
        });
    }

    fn is_here(&self, fan: u8) -> bool {
        self.line.contains(&fan) || self.inside.iter().any(|slot| slot.fan == fan)
    }

    fn enter(&mut self, rules: &QueueRules, fan: u8, now: Timestamp) {
        let may_join = matches!(rules.settings.mode, QueueMode::Auto | QueueMode::Paused);
        if !self.is_here(fan) && may_join {
            self.line.push(fan);
            self.n_entered += 1;
            if self.line.len() == 1 {
                self.admit(rules, now);
            }
        }
        self.claim(fan);
    }

    /// The effects of a restart: the counts and the line start over.
    fn restart(&mut self, now: Timestamp) {
        self.budget = None;
        self.gathering_until = (!self.line.is_empty()).then(|| now.plus(RETURN_WINDOW));
        self.n_entered = (self.line.len() + self.inside.len()) as u64;
        self.n_done = 0;
    }

    fn leave(&mut self, fan: u8) {
        self.n_done += u64::from(self.is_here(fan));
        self.line.retain(|other| *other != fan);
        self.inside.retain(|slot| slot.fan != fan);
    }
}

/// The engine and the model, side by side.
struct Pair {
    room: Served,
    model: Model,
    rules: QueueRules,
    now: Timestamp,
    /// The last answer to each waiting fan: their number and how many were ahead.
    told: [Option<(u64, u64)>; 24],
    was_lost: bool,
}

impl Pair {
    fn take(&mut self, step: Step) {
        let now = self.now;
        self.model.sweep(now);
        match step {
            Step::Enter(number) => {
                let _ = self.room.enter(&self.rules, fan(number), None, now);
                self.model.enter(&self.rules, number, now);
            }
            Step::Look(number) => {
                let position = self.room.position(&self.rules, fan(number), now);
                let is_inside = self.model.inside.iter().any(|slot| slot.fan == number);
                assert_eq!(matches!(position, QueuePosition::Inside(_)), is_inside);
                self.model.claim(number);
            }
            Step::Leave(number) => {
                self.room.leave(fan(number), now);
                self.model.leave(number);
            }
            Step::Admit => self.admit(),
            Step::Wait(ms) => self.now = now.plus(Duration::from_millis(ms.into())),
            Step::Mode(mode) => self.rules.settings.mode = mode,
            Step::Cap(max_active) => self.rules.settings.max_active = max_active,
            Step::Restart(first) => self.restart(first),
        }
    }

    /// A new room, opened with the store's history; every fan comes back.
    fn restart(&mut self, first: u8) {
        let entries: Vec<Admission> = self
            .model
            .inside
            .iter()
            .filter_map(|slot| {
                let entry = self.room.entry(fan(slot.fan), self.now)?;
                Some(Admission { fan: fan(slot.fan), entry })
            })
            .collect();
        assert_eq!(entries.len(), self.model.inside.len());
        // The store keeps when an entry ends, not whether it was claimed.
        self.model.inside.iter_mut().for_each(|slot| slot.claim_until = None);
        self.now = self.now.plus(Duration::from_millis(1));
        self.model.sweep(self.now);
        self.room.lose(&self.rules, entries, self.now);
        self.model.restart(self.now);
        let mut place_proof = self.model.line.clone();
        let n_waiting = place_proof.len().max(1);
        place_proof.rotate_left(usize::from(first) % n_waiting);
        for number in place_proof {
            let (place, _) =
                self.told[usize::from(number)].expect("every waiting fan has a last answer");
            let proof = PlaceProof::Line { number: place };
            let position = self.room.come_back(&self.rules, fan(number), proof, self.now);
            assert!(matches!(position, QueuePosition::Waiting { number, .. } if number == place));
        }
        self.was_lost = true;
    }

    fn admit(&mut self) {
        let admitted = self.room.admit(&self.rules, self.now);
        let expected: Vec<UserId> =
            self.model.admit(&self.rules, self.now).into_iter().map(fan).collect();
        let fans: Vec<UserId> = admitted.iter().map(|admission| admission.fan).collect();
        assert_eq!(fans, expected, "the first in line, in order");
        assert!(admitted.is_sorted_by_key(|admission| admission.entry.number), "by number");
        let n_inside = self.room.counts(self.now).inside;
        let max = u64::from(self.rules.settings.max_active);
        assert!(admitted.is_empty() || n_inside <= max, "{n_inside} inside, {max} allowed");
    }

    fn compare(&mut self) {
        self.model.sweep(self.now);
        let counts = self.room.counts(self.now);
        assert_eq!(counts.waiting, self.model.line.len() as u64);
        assert_eq!(counts.inside, self.model.inside.len() as u64);
        assert_eq!(counts.left + counts.expired, self.model.n_done);
        let n_accounted = counts.waiting + counts.inside + counts.left + counts.expired;
        assert_eq!(n_accounted, self.model.n_entered, "no fan is lost or counted twice");
        for (index, number) in self.model.line.iter().enumerate() {
            let position = self.room.position(&self.rules, fan(*number), self.now);
            let QueuePosition::Waiting { number: place, ahead, behind } = position else {
                panic!("fan {number} waits, but the engine says {position:?}")
            };
            let at_once = self.room.waiting_index().position(place);
            let is_same = at_once.map_or(self.was_lost, |at_once| at_once == position);
            assert!(is_same, "the index says {at_once:?}, the room {position:?}");
            assert_eq!(ahead, index as u64);
            assert_eq!(behind, (self.model.line.len() - index - 1) as u64);
            let told = self.told[*number as usize].replace((place, ahead));
            let is_fair = told.is_none_or(|(was, before)| was != place || ahead <= before);
            assert!(is_fair, "the position of fan {number} grew from {told:?} to {ahead}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn the_engine_does_what_the_model_does(
        steps in prop::collection::vec(any_step(), 1..60),
        max_active in 1_u32..6,
        rate in 1_u32..4,
    ) {
        let model = Model {
            line: Vec::new(),
            inside: Vec::new(),
            budget: None,
            gathering_until: None,
            n_entered: 0,
            n_done: 0,
        };
        let rules = rules(max_active, rate);
        let mut pair =
            Pair { room: Served::new(&rules, START), model, rules, now: START, told: [None; 24], was_lost: false };
        for step in steps {
            pair.take(step);
            pair.compare();
        }
    }
}
