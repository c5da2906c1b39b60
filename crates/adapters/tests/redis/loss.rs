//! A server that lost everything: what the node knows of the lobby and of the draw is told to
//! the new room, and everybody finds their place.

use crate::engine::{Engine, START};
use crate::nodes::{fan, rules};
use adapters::redis::Queue;
use app::ports::queue::{Queue as _, Returning};
use domain::draw;
use domain::queue::{PlaceNumber, QueueMode, QueueRules, Standing};
use std::time::Duration;

const N_GATHERED: u32 = 10;

async fn gather(queue: &Queue, rules: &QueueRules) {
    queue.restore(rules, &[], START).await.unwrap();
    for number in 0..N_GATHERED {
        queue.enter(rules, fan(number), None, START).await.unwrap();
    }
    queue.admit(rules, START).await.unwrap();
}

/// Brings the fan back with the proof of the lobby; their number in line.
async fn come_back(queue: &Queue, rules: &QueueRules, index: u32) -> PlaceNumber {
    let (proof, now) = (Returning::Lobby { index }, rules.opens_at.plus(Duration::from_secs(9)));
    let standing = queue.come_back(rules, fan(index), proof, now).await.unwrap();
    let Some(Standing::Waiting { number, .. }) = standing else { panic!("{standing:?}") };
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
    let queue = Queue::new(engine.connection());
    let rules = rules(QueueMode::Paused, 1);
    gather(&queue, &rules).await;
    queue.admit(&rules, rules.opens_at).await.unwrap();
    let seen = queue.standing(&rules, fan(3), None, rules.opens_at).await.unwrap();
    let Standing::Waiting { number, .. } = seen.standing else { panic!("{seen:?}") };
    lose(&engine, &queue, &rules).await;
    let now = rules.opens_at.plus(Duration::from_secs(6));
    queue.restore(&rules, &[], now).await.unwrap();
    let newcomer = queue.enter(&rules, fan(99), None, now).await.unwrap();
    assert!(matches!(newcomer, Some(Standing::Waiting { number: late, .. }) if number < late));
    assert_eq!(come_back(&queue, &rules, 3).await, number, "the number from before");
    assert_all_come_back_as_drawn(&queue, &rules).await;
}

#[tokio::test]
async fn who_gathered_is_drawn_although_the_server_was_lost_before_the_opening() {
    let engine = Engine::single().await;
    let queue = Queue::new(engine.connection());
    let rules = rules(QueueMode::Paused, 1);
    gather(&queue, &rules).await;
    engine.ask(&["flushall"]);
    assert_eq!(queue.admit(&rules, START).await.unwrap(), None);
    queue.restore(&rules, &[], START).await.unwrap();
    // One comes back in time; the others ask after the draw.
    let proof = Returning::Lobby { index: 2 };
    let standing = queue.come_back(&rules, fan(2), proof, START).await.unwrap();
    assert_eq!(standing, Some(Standing::Lobby { index: 2, n_gathered: 1 }));
    assert_all_come_back_as_drawn(&queue, &rules).await;
}

/// Everybody who gathered has the place that the seed gives them, whatever was lost meanwhile.
async fn assert_all_come_back_as_drawn(queue: &Queue, rules: &QueueRules) {
    let mut numbers = Vec::new();
    for index in 0..N_GATHERED {
        numbers.push(come_back(queue, rules, index).await);
    }
    let ranks = draw::permutation(&rules.draw_seed, N_GATHERED);
    let first = numbers.iter().min().unwrap();
    let expected: Vec<_> = ranks.iter().map(|rank| first + u64::from(*rank)).collect();
    assert_eq!(numbers, expected, "the order that was drawn");
}
