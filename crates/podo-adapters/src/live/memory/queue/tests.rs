//! The contract, and rooms after losses.

mod model;
mod served;

use crate::live::memory::queue::Queue;
use async_trait::async_trait;
use podo_app::waiting_room::port::queue::PlaceProof;
use podo_app::waiting_room::port::{contract, queue};
use podo_domain::waiting_room::draw;
use podo_domain::waiting_room::{QueueMode, QueuePosition, QueueRules, QueueSettings};
use podo_domain::{ScheduleId, Timestamp, UserId};
use served::Served;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

const START: Timestamp = Timestamp::from_ms(1_900_000_000_000);

#[tokio::test]
async fn keeps_the_contract() {
    contract::check(&Queue::default(), 1, START).await;
}

/// The engine, and a copy from before each step.
struct Taped {
    queue: Arc<Queue>,
    before: Vec<Queue>,
}

#[async_trait]
impl contract::LosesTail for Taped {
    fn queue(&self) -> Arc<dyn queue::Queue> {
        self.queue.clone()
    }

    fn before_step(&mut self) {
        self.before.push(self.queue.copy().unwrap());
    }

    async fn lose_tail(&mut self, n_writes: usize) {
        let n_kept = self.before.len().saturating_sub(n_writes);
        self.queue = Arc::new(self.before.swap_remove(n_kept));
        self.before.clear();
        self.queue.begin_epoch();
    }
}

#[tokio::test]
async fn whatever_tail_is_lost_nothing_is_given_twice_and_all_comes_back() {
    let mut taped = Taped { queue: Arc::default(), before: Vec::new() };
    contract::check_lost_tails(&mut taped, 0..1_000).await;
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
    let mut rules = rules(1, 1);
    rules.settings.mode = QueueMode::Paused;
    let mut room = Served::new(&rules, START);
    let fan = |number: u32| UserId::new(Uuid::from_u128(number.into()));
    for number in 0..1_000_000 {
        room.enter(&rules, fan(number), None, START).unwrap();
    }
    for number in (0..1_000_000).step_by(2) {
        room.leave(fan(number), START);
    }
    for number in (1..1_000_000).step_by(2) {
        let position = room.position(&rules, fan(number), START);
        let QueuePosition::Waiting { ahead, .. } = position else { panic!("{position:?}") };
        assert_eq!(ahead, u64::from(number / 2));
    }
}

#[test]
fn who_comes_back_to_the_lobby_after_the_draw_has_the_place_it_drew() {
    let mut rules = rules(1, 1);
    rules.settings.mode = QueueMode::Paused;
    rules.opens_at = START.plus(Duration::from_secs(1));
    let mut room = Served::new(&rules, START);
    // The engine lost its state during the lobby; only the last fan came back before the draw.
    let proof = |index| Some(PlaceProof::Lobby { index });
    room.enter(&rules, fan(9), proof(9), START).unwrap();
    let mut place_proof: Vec<(u32, u64)> = Vec::new();
    for index in 0..9 {
        let fan = fan(index as u8);
        let position = room.enter(&rules, fan, proof(index), rules.opens_at).unwrap();
        let QueuePosition::Waiting { number, .. } = position else { panic!("{position:?}") };
        place_proof.push((index, number));
    }
    let ranks = draw::permutation(&rules.draw_seed, 10);
    place_proof.sort_by_key(|(_, number)| *number);
    assert!(place_proof.is_sorted_by_key(|(index, _)| ranks[*index as usize]));
    let position = room.position(&rules, fan(9), rules.opens_at);
    let ahead = u64::from(ranks[9]);
    assert!(
        matches!(position, QueuePosition::Waiting { ahead: expected, .. } if expected == ahead)
    );
}

#[test]
fn a_number_from_a_clock_that_ran_ahead_is_kept_and_not_given_again() {
    let mut rules = rules(1, 1);
    rules.settings.mode = QueueMode::Paused;
    let mut room = Served::new(&rules, START);
    let number_of = |position| match position {
        Ok(QueuePosition::Waiting { number, .. }) => number,
        other => panic!("{other:?}"),
    };
    let first = number_of(room.enter(&rules, fan(1), None, START));
    let proof = Some(PlaceProof::Line { number: first + 2 });
    assert_eq!(number_of(room.enter(&rules, fan(2), proof, START)), first + 2);
    assert_eq!(number_of(room.enter(&rules, fan(3), None, START)), first + 1);
    assert_eq!(number_of(room.enter(&rules, fan(4), None, START)), first + 3);
    let last = room.position(&rules, fan(4), START);
    assert!(matches!(last, QueuePosition::Waiting { ahead: 3, behind: 0, .. }), "{last:?}");
}

#[test]
fn we_remember_only_for_a_while_that_a_time_ran_out() {
    let rules = rules(1, 1);
    let mut room = Served::new(&rules, START);
    room.enter(&rules, fan(1), None, START).unwrap();
    let over = START.plus(rules.settings.entry_ttl());
    room.enter(&rules, fan(2), None, over).unwrap();
    assert_eq!(room.position(&rules, fan(1), over), QueuePosition::Expired);
    let later = over.plus(Duration::from_secs(2 * 3_600));
    room.enter(&rules, fan(3), None, later).unwrap();
    assert_eq!(room.position(&rules, fan(2), later), QueuePosition::Expired);
    assert_eq!(room.position(&rules, fan(1), later), QueuePosition::Absent);
}
