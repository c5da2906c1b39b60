//! The waiting room on Redis gives the same answers as the one in memory, step by step.

use crate::engine::{Engine, START};
use podo_adapters::live::{memory, redis};
use podo_app::waiting_room::port::queue::{Admission, FanPlace, PlaceProof, Queue, Remembered};
use podo_domain::waiting_room::{Entry, QueueMode, QueuePosition, QueueRules, QueueSettings};
use podo_domain::{ScheduleId, Timestamp, UserId};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::collections::HashMap;
use std::fmt::Debug;
use std::time::Duration;
use uuid::Uuid;

const N_FANS: u8 = 12;

#[derive(Clone, Copy, Debug)]
enum Step {
    Enter(u8),
    /// With the proof of a place that this or another fan had.
    Return(u8, u8),
    /// With the proof of their place, if they have one.
    Look(u8),
    ComeBack(u8, u8),
    Entry(u8),
    Extend(u8),
    Leave(u8),
    Admit,
    Forget,
    Restore(u8),
    Wait(u16),
    Mode(QueueMode),
    Cap(u32),
}

fn any_step() -> impl Strategy<Value = Step> {
    use QueueMode::{Auto, Closed, Draining, Paused};
    let mode = prop::sample::select(vec![Auto, Auto, Auto, Paused, Draining, Closed]);
    prop_oneof![
        6 => (0..N_FANS).prop_map(Step::Enter),
        3 => (0..N_FANS, 0..N_FANS).prop_map(|(fan, other)| Step::Return(fan, other)),
        3 => (0..N_FANS).prop_map(|fan| Step::Return(fan, fan)),
        4 => (0..N_FANS).prop_map(Step::Look),
        1 => (0..N_FANS, 0..N_FANS).prop_map(|(fan, other)| Step::ComeBack(fan, other)),
        1 => (0..N_FANS).prop_map(|fan| Step::ComeBack(fan, fan)),
        1 => (0..N_FANS).prop_map(Step::Entry),
        1 => (0..N_FANS).prop_map(Step::Extend),
        2 => (0..N_FANS).prop_map(Step::Leave),
        4 => Just(Step::Admit),
        1 => Just(Step::Forget),
        1 => (0..N_FANS).prop_map(Step::Restore),
        3 => (0_u16..40_000).prop_map(Step::Wait),
        1 => mode.prop_map(Step::Mode),
        1 => (1_u32..6).prop_map(Step::Cap),
    ]
}

fn fan(number: u8) -> UserId {
    UserId::new(Uuid::from_u128(number.into()))
}

/// Both engines, and the fans' last answers.
struct Pair<'a> {
    memory: memory::Queue,
    redis: &'a redis::Queue,
    rules: QueueRules,
    now: Timestamp,
    places: HashMap<u8, PlaceProof>,
    entries: HashMap<u8, Entry>,
}

/// Sends the same request to both engines and returns the answer of the first.
macro_rules! same {
    ($pair:ident.$method:ident($($argument:expr),*)) => {{
        let expected = $pair.memory.$method($($argument),*).await;
        let answer = $pair.redis.$method($($argument),*).await;
        assert_same(&expected, &answer);
        expected
    }};
}

fn assert_same(expected: &impl Debug, answer: &impl Debug) {
    assert_eq!(format!("{expected:?}"), format!("{answer:?}"), "memory (left) and Redis (right)");
}

impl Pair<'_> {
    async fn take(&mut self, step: Step) {
        let (schedule, now) = (self.rules.schedule, self.now);
        match step {
            Step::Enter(number) => self.enter(number, None).await,
            Step::Return(number, whose) => {
                self.enter(number, self.places.get(&whose).copied()).await;
            }
            Step::Look(number) => {
                let proof = self.places.get(&number).copied();
                let seen = same!(self.position(&self.rules, fan(number), proof, now)).unwrap();
                self.remember(number, seen.position);
                if let QueuePosition::Waiting { number: place, .. } = seen.position {
                    let at_once = self.memory.cached_position(
                        schedule,
                        FanPlace { number: place, fan: fan(number) },
                        now,
                    );
                    assert!(at_once.is_none_or(|position| position == seen.position));
                }
            }
            Step::ComeBack(number, whose) => {
                if let Some(proof) = self.places.get(&whose).copied() {
                    let position = same!(self.come_back(&self.rules, fan(number), proof, now));
                    if let Some(position) = position.unwrap() {
                        self.remember(number, position);
                    }
                }
            }
            Step::Entry(number) => drop(same!(self.entry(schedule, fan(number), now))),
            Step::Extend(number) => drop(same!(self.extend(&self.rules, fan(number), now))),
            Step::Leave(number) => drop(same!(self.leave(schedule, fan(number), now))),
            Step::Admit => drop(same!(self.admit(&self.rules, now))),
            Step::Forget => drop(same!(self.remove(schedule))),
            Step::Restore(number) => {
                let entry = self.entries.get(&number).copied();
                let known: Remembered = entry
                    .map(|entry| Admission { fan: fan(number), entry })
                    .into_iter()
                    .collect::<Vec<_>>()
                    .into();
                drop(same!(self.restore(&self.rules, &known, now)));
            }
            Step::Wait(ms) => self.now = now.plus(Duration::from_millis(ms.into())),
            Step::Mode(mode) => self.rules.settings.mode = mode,
            Step::Cap(max_active) => self.rules.settings.max_active = max_active,
        }
        drop(same!(self.counts(schedule, self.now)));
    }

    async fn enter(&mut self, number: u8, proof: Option<PlaceProof>) {
        let position = same!(self.enter(&self.rules, fan(number), proof, self.now));
        match position {
            Ok(Some(position)) => self.remember(number, position),
            Ok(None) => drop(same!(self.restore(&self.rules, &Remembered::default(), self.now))),
            Err(_) => (),
        }
    }

    /// A place token names its fan: only the fan who took a place over can prove it.
    fn prove(&mut self, number: u8, proof: PlaceProof) {
        self.places.retain(|_, other| *other != proof);
        self.places.insert(number, proof);
    }

    fn remember(&mut self, number: u8, position: QueuePosition) {
        match position {
            QueuePosition::Lobby { index, .. } => {
                self.prove(number, PlaceProof::Lobby { index });
            }
            QueuePosition::Waiting { number: place, .. } => {
                self.prove(number, PlaceProof::Line { number: place });
            }
            QueuePosition::Inside(entry) => {
                self.entries.insert(number, entry);
            }
            QueuePosition::Expired | QueuePosition::Absent => (),
        }
    }
}

fn rules(schedule: Uuid, opens_after_ms: u64) -> QueueRules {
    let settings = QueueSettings {
        max_active: 3,
        admit_per_second: 2,
        entry_ttl_seconds: 120,
        ..QueueSettings::default()
    };
    QueueRules {
        schedule: ScheduleId::with_room_for_seats(schedule),
        settings,
        opens_at: START.plus(Duration::from_millis(opens_after_ms)),
        draw_seed: [7; 32],
    }
}

#[test]
fn the_queue_answers_what_the_one_in_memory_answers() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let engine = runtime.block_on(Engine::single());
    // Replicas that are never stale: age is the only permitted difference between the engines.
    let queue = redis::Queue::fresh_for(engine.connection(), engine.blocks(), Duration::ZERO);
    let steps = prop::collection::vec(any_step(), 1..120);
    // The steps describe a failing case; a regression file would outlive the server.
    let config = Config { cases: 48, failure_persistence: None, ..Config::default() };
    let cases = (any::<u64>(), 0_u64..60_000, steps);
    let outcome = TestRunner::new(config).run(&cases, |(schedule, opens_after_ms, steps)| {
        let schedule = Uuid::from_u128(u128::from(schedule) << 64);
        let mut pair = Pair {
            memory: memory::Queue::default(),
            redis: &queue,
            rules: rules(schedule, opens_after_ms),
            now: START,
            places: HashMap::new(),
            entries: HashMap::new(),
        };
        runtime.block_on(async {
            queue.remove(pair.rules.schedule).await.unwrap();
            for step in steps {
                pair.take(step).await;
            }
        });
        Ok(())
    });
    outcome.unwrap();
}
