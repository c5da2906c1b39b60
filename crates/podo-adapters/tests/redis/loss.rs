//! A server that lost everything, or its last writes: the store restores the lobby and the draw,
//! and every fan finds their place.

use crate::engine::{Engine, START};
use crate::nodes::{fan, rules};
use async_trait::async_trait;
use podo_adapters::live::memory::QueueBlocks;
use podo_adapters::live::redis::Queue;
use podo_app::Result;
use podo_app::waiting_room::port::blocks::QueueBlocks as _;
use podo_app::waiting_room::port::queue::{PlaceProof, Queue as _, Remembered};
use podo_app::waiting_room::port::{blocks, queue};
use podo_domain::waiting_room::draw;
use podo_domain::waiting_room::{
    Blocks, Grant, Need, PlaceNumber, QueueMode, QueuePosition, QueueRules,
};
use podo_domain::{ScheduleId, Timestamp};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const N_GATHERED: u32 = 10;

async fn gather(queue: &Queue, rules: &QueueRules) {
    queue.restore(rules, &Remembered::default(), START).await.unwrap();
    for number in 0..N_GATHERED {
        queue.enter(rules, fan(number), None, START).await.unwrap();
    }
    queue.admit(rules, START).await.unwrap();
}

/// Restores the fan with the lobby's proof. Returns their number in line.
async fn come_back(queue: &Queue, rules: &QueueRules, index: u32) -> PlaceNumber {
    let (proof, now) = (PlaceProof::Lobby { index }, rules.opens_at.plus(Duration::from_secs(9)));
    let position = queue.come_back(rules, fan(index), proof, now).await.unwrap();
    let Some(QueuePosition::Waiting { number, .. }) = position else { panic!("{position:?}") };
    number
}

async fn lose(engine: &Engine, queue: &Queue, rules: &QueueRules) {
    engine.ask(&["flushall"]);
    let now = rules.opens_at.plus(Duration::from_secs(5));
    assert_eq!(queue.admit(rules, now).await.unwrap(), None, "the round finds the room lost");
}

#[tokio::test]
async fn who_gathered_keeps_the_drawn_place_when_the_server_is_lost_after_the_draw() {
    let engine = Engine::single().await;
    let queue = Queue::new(engine.connection(), engine.blocks());
    let rules = rules(QueueMode::Paused, 1);
    gather(&queue, &rules).await;
    queue.admit(&rules, rules.opens_at).await.unwrap();
    let seen = queue.position(&rules, fan(3), None, rules.opens_at).await.unwrap();
    let QueuePosition::Waiting { number, .. } = seen.position else { panic!("{seen:?}") };
    lose(&engine, &queue, &rules).await;
    let now = rules.opens_at.plus(Duration::from_secs(6));
    queue.restore(&rules, &Remembered::default(), now).await.unwrap();
    let newcomer = queue.enter(&rules, fan(99), None, now).await.unwrap();
    assert!(matches!(newcomer, Some(QueuePosition::Waiting { number: late, .. }) if number < late));
    assert_eq!(come_back(&queue, &rules, 3).await, number, "the number from before");
    assert_all_come_back_as_drawn(&queue, &rules).await;
}

#[tokio::test]
async fn who_gathered_is_drawn_although_the_server_was_lost_before_the_opening() {
    let engine = Engine::single().await;
    let queue = Queue::new(engine.connection(), engine.blocks());
    let rules = rules(QueueMode::Paused, 1);
    gather(&queue, &rules).await;
    engine.ask(&["flushall"]);
    assert_eq!(queue.admit(&rules, START).await.unwrap(), None);
    queue.restore(&rules, &Remembered::default(), START).await.unwrap();
    // One comes back in time; the others poll after the draw.
    let proof = PlaceProof::Lobby { index: 2 };
    let position = queue.come_back(&rules, fan(2), proof, START).await.unwrap();
    assert_eq!(position, Some(QueuePosition::Lobby { index: 2, n_gathered: 1 }));
    assert_all_come_back_as_drawn(&queue, &rules).await;
}

/// Every fan of the lobby has the place that the seed gives them, whatever was lost meanwhile.
async fn assert_all_come_back_as_drawn(queue: &Queue, rules: &QueueRules) {
    let mut numbers = Vec::new();
    for index in 0..N_GATHERED {
        numbers.push(come_back(queue, rules, index).await);
    }
    let counts = queue.counts(rules.schedule, rules.opens_at).await.unwrap();
    let ranks = draw::permutation(&rules.draw_seed, u32::try_from(counts.drawn).unwrap());
    let first = numbers[0] - u64::from(ranks[0]);
    let expected: Vec<_> =
        ranks.iter().take(numbers.len()).map(|rank| first + u64::from(*rank)).collect();
    assert_eq!(numbers, expected, "the order that was drawn");
}

/// A server whose append-only file loses its last writes.
struct Logged {
    engine: Engine,
    queue: Arc<Queue>,
}

#[async_trait]
impl podo_app::waiting_room::port::contract::LosesTail for Logged {
    fn queue(&self) -> Arc<dyn queue::Queue> {
        self.queue.clone()
    }

    async fn lose_tail(&mut self, n_writes: usize) {
        self.engine.lose_last_writes(n_writes).await;
    }
}

#[tokio::test]
async fn whatever_tail_is_lost_nothing_is_given_twice_and_all_comes_back() {
    let engine = Engine::single_with_log().await;
    let blocks = engine.blocks();
    // Replicas that are never stale, so their answers are exact.
    let queue = Arc::new(Queue::fresh_for(engine.connection(), blocks, Duration::ZERO));
    podo_app::waiting_room::port::contract::check_lost_tails(&mut Logged { engine, queue }, 0..24)
        .await;
}

/// The previous version opened rooms whose numbers begin with the clock, unknown to the store. They
/// are taken over, and no number is assigned twice.
#[tokio::test]
async fn a_room_of_the_version_before_is_taken_over() {
    let engine = Engine::single().await;
    let queue = Queue::fresh_for(engine.connection(), engine.blocks(), Duration::ZERO);
    let rules = rules(QueueMode::Paused, 1);
    let now = rules.opens_at;
    // The store has known the schedule for an hour when the previous version opens its room.
    engine.blocks().blocks(rules.schedule, now.minus(Duration::from_secs(3_600))).await.unwrap();
    let key = |name| format!("test:{{{}}}:queue:{name}", rules.schedule.uuid());
    let base = now.ms().unsigned_abs() * 1_000;
    let (base_text, next) = (base.to_string(), (base + 2).to_string());
    let room = ["open", "1", "base", &base_text, "next", &next, "opened_at", "0", "drawn", "0"];
    engine.ask(&[["hset", &key("room")].as_slice(), &room].concat());
    let waiting = fan(1).uuid().to_string();
    engine.ask(&["zadd", &key("waiting"), &base_text, &waiting]);
    assert_eq!(queue.admit(&rules, now).await.unwrap(), None, "it may have lost its last writes");
    queue.restore(&rules, &Remembered::default(), now).await.unwrap();
    let old = queue.position(&rules, fan(1), None, now).await.unwrap().position;
    assert_eq!(old, QueuePosition::Waiting { number: base, ahead: 0, behind: 0 });
    let new = queue.enter(&rules, fan(2), None, now).await.unwrap();
    let is_behind =
        matches!(new, Some(QueuePosition::Waiting { number, ahead: 1, .. }) if base + 1 < number);
    assert!(is_behind, "{new:?}");
}

/// While the store reserves a block, another server takes over, and another node opens the room on
/// it.
struct TakenOverMeanwhile {
    blocks: Arc<QueueBlocks>,
    engine: tokio::sync::Mutex<Engine>,
    granted: Mutex<Vec<Grant>>,
}

#[async_trait]
impl blocks::QueueBlocks for TakenOverMeanwhile {
    async fn blocks(&self, schedule: ScheduleId, now: Timestamp) -> Result<Blocks> {
        self.blocks.blocks(schedule, now).await
    }

    async fn grant(&self, schedule: ScheduleId, need: Need, now: Timestamp) -> Result<Grant> {
        let grant = self.blocks.grant(schedule, need, now).await?;
        let is_first = self.granted.lock().unwrap().is_empty();
        self.granted.lock().unwrap().push(grant.clone());
        if is_first {
            let mut engine = self.engine.lock().await;
            engine.lose_last_writes(0).await;
            let other = Queue::new(engine.another().await, engine.blocks());
            other.restore(&rules(QueueMode::Paused, 1), &Remembered::default(), now).await?;
        }
        Ok(grant)
    }
}

/// The server that needed the block may still be up, and have got it by an earlier attempt of the
/// same call.
#[tokio::test]
async fn a_block_is_for_the_life_of_the_server_that_needed_it() {
    let engine = Engine::single_with_log().await;
    let (connection, blocks) = (engine.connection(), engine.blocks());
    let engine = tokio::sync::Mutex::new(engine);
    let books = Arc::new(TakenOverMeanwhile { blocks, engine, granted: Mutex::default() });
    let queue = Queue::fresh_for(connection, books.clone(), Duration::ZERO);
    let rules = rules(QueueMode::Paused, 1);
    let now = rules.opens_at;
    queue.restore(&rules, &Remembered::default(), now).await.unwrap();
    let entered = queue.enter(&rules, fan(1), None, now).await.unwrap();
    let granted = books.granted.lock().unwrap().clone();
    let [first, second] = [0, 1].map(|at: usize| granted[at].numbers.clone().unwrap());
    assert!(first.end <= second.start);
    assert_eq!(entered, Some(QueuePosition::Waiting { number: second.start, ahead: 0, behind: 0 }));
}
