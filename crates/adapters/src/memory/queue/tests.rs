//! The contract, and a few rooms that went through something.

mod model;
mod served;

use super::Queue;
use app::ports::queue::{self, Returning, contract};
use async_trait::async_trait;
use domain::queue::{QueueMode, QueueRules, QueueSettings, Standing};
use domain::{ScheduleId, Timestamp, UserId, draw};
use served::Served;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

const START: Timestamp = Timestamp::from_ms(1_900_000_000_000);

#[tokio::test]
async fn keeps_the_contract() {
    contract::check(&Queue::default(), 1, START).await;
}

/// The engine, and what it was before each step.
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
    let mut room = Served::new(&rules, START);
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
    let mut room = Served::new(&rules, START);
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
    let mut room = Served::new(&rules, START);
    room.enter(&rules, fan(1), None, START).unwrap();
    let over = START.plus(rules.settings.entry_ttl());
    room.enter(&rules, fan(2), None, over).unwrap();
    assert_eq!(room.standing(&rules, fan(1), over), Standing::Expired);
    let later = over.plus(Duration::from_secs(2 * 3_600));
    room.enter(&rules, fan(3), None, later).unwrap();
    assert_eq!(room.standing(&rules, fan(2), later), Standing::Expired);
    assert_eq!(room.standing(&rules, fan(1), later), Standing::Absent);
}
