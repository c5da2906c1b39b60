//! The contract, and the engine against a model that is too simple to be wrong.

use super::Queue;
use super::room::Room;
use app::ports::queue::{Returning, contract};
use domain::queue::{
    AdmitBudget, CLAIM_WINDOW, QueueMode, QueueRules, QueueSettings, Standing, fans_to_admit,
};
use domain::{ScheduleId, Timestamp, UserId, draw};
use proptest::prelude::*;
use std::time::Duration;
use uuid::Uuid;

const START: Timestamp = Timestamp::from_ms(1_900_000_000_000);

#[tokio::test]
async fn keeps_the_contract() {
    contract::check(&Queue::default(), 1, START).await;
}

fn fan(number: u8) -> UserId {
    UserId::new(Uuid::from_u128(number.into()))
}

fn rules(max_active: u32, admit_per_second: u32) -> QueueRules {
    let settings = QueueSettings {
        max_active,
        admit_per_second,
        entry_ttl_seconds: 120,
        ..QueueSettings::default()
    };
    QueueRules {
        schedule: ScheduleId::new(Uuid::nil()),
        settings,
        opens_at: START,
        draw_seed: [0; 32],
    }
}

#[test]
fn a_million_fans_line_up_and_the_last_one_knows_it() {
    let mut room = Room::new(START);
    let mut rules = rules(1, 1);
    rules.settings.mode = QueueMode::Paused;
    let fan = |number: u32| UserId::new(Uuid::from_u128(number.into()));
    for number in 0..1_000_000 {
        room.enter(&rules, fan(number), None, START).unwrap();
    }
    for number in (0..1_000_000).step_by(2) {
        room.leave(fan(number), START);
    }
    for number in (1..1_000_000).step_by(2) {
        let standing = room.standing(&rules, fan(number), START);
        let Standing::Waiting { ahead, .. } = standing else { panic!("{standing:?}") };
        assert_eq!(ahead, u64::from(number / 2));
    }
}

#[test]
fn who_comes_back_to_the_lobby_after_the_draw_has_the_place_it_drew() {
    let mut rules = rules(1, 1);
    rules.settings.mode = QueueMode::Paused;
    rules.opens_at = START.plus(Duration::from_secs(1));
    let mut room = Room::new(START);
    // The engine lost its memory while fans gathered; before the draw only the last came back.
    let proof = |index| Some(Returning::Lobby { index });
    room.enter(&rules, fan(9), proof(9), START).unwrap();
    let mut returning: Vec<(u32, u64)> = Vec::new();
    for index in 0..9 {
        let fan = fan(index as u8);
        let standing = room.enter(&rules, fan, proof(index), rules.opens_at).unwrap();
        let Standing::Waiting { number, .. } = standing else { panic!("{standing:?}") };
        returning.push((index, number));
    }
    let ranks = draw::permutation(&rules.draw_seed, 10);
    returning.sort_by_key(|(_, number)| *number);
    assert!(returning.is_sorted_by_key(|(index, _)| ranks[*index as usize]));
    let standing = room.standing(&rules, fan(9), rules.opens_at);
    let ahead = u64::from(ranks[9]);
    assert!(matches!(standing, Standing::Waiting { ahead: told, .. } if told == ahead));
}

#[test]
fn a_number_from_a_clock_that_ran_ahead_is_kept_and_given_to_nobody_else() {
    let mut rules = rules(1, 1);
    rules.settings.mode = QueueMode::Paused;
    let mut room = Room::new(START);
    let number_of = |standing| match standing {
        Ok(Standing::Waiting { number, .. }) => number,
        other => panic!("{other:?}"),
    };
    let first = number_of(room.enter(&rules, fan(1), None, START));
    let proof = Some(Returning::Line { number: first + 2 });
    assert_eq!(number_of(room.enter(&rules, fan(2), proof, START)), first + 2);
    assert_eq!(number_of(room.enter(&rules, fan(3), None, START)), first + 1);
    assert_eq!(number_of(room.enter(&rules, fan(4), None, START)), first + 3);
    let last = room.standing(&rules, fan(4), START);
    assert!(matches!(last, Standing::Waiting { ahead: 3, behind: 0, .. }), "{last:?}");
}

#[test]
fn we_remember_only_for_a_while_that_a_time_ran_out() {
    let rules = rules(1, 1);
    let mut room = Room::new(START);
    room.enter(&rules, fan(1), None, START).unwrap();
    let over = START.plus(rules.settings.entry_ttl());
    room.enter(&rules, fan(2), None, over).unwrap();
    assert_eq!(room.standing(&rules, fan(1), over), Standing::Expired);
    let later = over.plus(Duration::from_secs(2 * 3_600));
    room.enter(&rules, fan(3), None, later).unwrap();
    assert_eq!(room.standing(&rules, fan(2), later), Standing::Expired);
    assert_eq!(room.standing(&rules, fan(1), later), Standing::Absent);
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Enter(u8),
    Look(u8),
    Leave(u8),
    Admit,
    Wait(u16),
    Mode(QueueMode),
    Cap(u32),
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
    ]
}

#[derive(Clone, Copy)]
struct Inside {
    fan: u8,
    claim_until: Option<Timestamp>,
    expires_at: Timestamp,
}

/// The rules again, as slowly as possible.
struct Model {
    line: Vec<u8>,
    inside: Vec<Inside>,
    budget: AdmitBudget,
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
        let budget = self.budget.fans(rules.settings.admit_per_second, now);
        let n_inside = self.inside.len() as u32;
        let n = fans_to_admit(&rules.settings, n_inside, self.line.len() as u64, budget);
        self.budget.spend(n);
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

    fn leave(&mut self, fan: u8) {
        self.n_done += u64::from(self.is_here(fan));
        self.line.retain(|other| *other != fan);
        self.inside.retain(|slot| slot.fan != fan);
    }
}

/// The engine and the model, side by side.
struct Pair {
    room: Room,
    model: Model,
    rules: QueueRules,
    now: Timestamp,
    /// What each waiting fan was told last: their number and how many are ahead.
    told: [Option<(u64, u64)>; 24],
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
                let standing = self.room.standing(&self.rules, fan(number), now);
                let is_inside = self.model.inside.iter().any(|slot| slot.fan == number);
                assert_eq!(matches!(standing, Standing::Inside(_)), is_inside);
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
        }
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
        assert_eq!(n_accounted, self.model.n_entered, "nobody is lost, nobody is counted twice");
        for (index, number) in self.model.line.iter().enumerate() {
            let standing = self.room.standing(&self.rules, fan(*number), self.now);
            let Standing::Waiting { number: place, ahead, behind } = standing else {
                panic!("fan {number} waits, but the engine says {standing:?}")
            };
            assert_eq!(
                self.room.board().standing(place),
                Some(standing),
                "the board says the same"
            );
            assert_eq!(ahead, index as u64);
            assert_eq!(behind, (self.model.line.len() - index - 1) as u64);
            let told = self.told[*number as usize].replace((place, ahead));
            let is_fair = told.is_none_or(|(was, before)| was != place || ahead <= before);
            assert!(is_fair, "the position of fan {number} grew from {told:?} to {ahead}");
        }
    }
}

proptest! {
    #[test]
    fn the_engine_does_what_the_model_does(
        steps in prop::collection::vec(any_step(), 1..200),
        max_active in 1_u32..6,
        rate in 1_u32..4,
    ) {
        let model = Model {
            line: Vec::new(),
            inside: Vec::new(),
            budget: AdmitBudget::full(rate, START),
            n_entered: 0,
            n_done: 0,
        };
        let rules = rules(max_active, rate);
        let mut pair =
            Pair { room: Room::new(START), model, rules, now: START, told: [None; 24] };
        for step in steps {
            pair.take(step);
            pair.compare();
        }
    }
}
