//! A node answers polls from its replica of the room: with few calls, never off by more than the
//! replica's age, and even when the server is down.

use crate::engine::{Engine, START};
use crate::nodes::{fan, rules};
use podo_adapters::live::redis::Queue;
use podo_app::Error;
use podo_app::waiting_room::port::queue::{
    FanPlace, PlaceProof, PositionSnapshot, Queue as _, Remembered,
};
use podo_domain::Timestamp;
use podo_domain::waiting_room::{PlaceNumber, QueueMode, QueuePosition, QueueRules};
use std::time::Duration;

const N_FANS: u32 = 20;
const MS: Duration = Duration::from_millis(1);

/// Fans `0..N_FANS` wait in line. Returns their numbers.
async fn line_up(queue: &Queue, rules: &QueueRules) -> Vec<PlaceNumber> {
    queue.restore(rules, &Remembered::default(), START).await.unwrap();
    let mut numbers = Vec::new();
    for number in 0..N_FANS {
        let position = queue.enter(rules, fan(number), None, rules.opens_at).await.unwrap();
        let Some(QueuePosition::Waiting { number, .. }) = position else { panic!("{position:?}") };
        numbers.push(number);
    }
    numbers
}

fn scripts_run(engine: &Engine) -> u64 {
    let stats = engine.ask(&["info", "commandstats"]);
    let line = stats.lines().find_map(|line| line.strip_prefix("cmdstat_evalsha:calls="));
    line.and_then(|rest| rest.split(',').next()).unwrap().parse().unwrap()
}

/// Fan `index` polls with the proof of their number.
async fn look(
    queue: &Queue,
    rules: &QueueRules,
    (index, numbers): (u32, &[PlaceNumber]),
    now: Timestamp,
) -> PositionSnapshot {
    let proof = Some(PlaceProof::Line { number: numbers[index as usize] });
    queue.position(rules, fan(index), proof, now).await.unwrap()
}

fn ahead(seen: PositionSnapshot) -> u64 {
    let QueuePosition::Waiting { ahead, .. } = seen.position else { panic!("{seen:?}") };
    ahead
}

#[tokio::test]
async fn a_thousand_polls_of_a_second_cost_a_few_calls() {
    let engine = Engine::single().await;
    let queue = Queue::new(engine.connection(), engine.blocks());
    let rules = rules(QueueMode::Paused, 1);
    let numbers = line_up(&queue, &rules).await;
    let before = scripts_run(&engine);
    for poll in 0..1_000_u32 {
        let (index, now) = (poll % N_FANS, rules.opens_at.plus(poll * MS));
        let seen = look(&queue, &rules, (index, &numbers), now).await;
        assert_eq!((ahead(seen), seen.is_live), (u64::from(index), true));
        let number = numbers[index as usize];
        let at_once =
            queue.cached_position(rules.schedule, FanPlace { number, fan: fan(index) }, now);
        assert_eq!(at_once, Some(seen.position), "the copy has just been asked");
        let other =
            queue.cached_position(rules.schedule, FanPlace { number, fan: fan(index + 1) }, now);
        assert_eq!(other, None, "the number is another fan's");
    }
    let with_proof = scripts_run(&engine) - before;
    assert!(with_proof <= 10, "{with_proof} calls for a thousand polls");
    for poll in 0..100 {
        queue.position(&rules, fan(poll % N_FANS), None, rules.opens_at).await.unwrap();
    }
    let without = scripts_run(&engine) - before - with_proof;
    assert!(without >= 100, "without the proof every poll is a call: {without}");
}

#[tokio::test]
async fn what_happens_on_one_node_is_known_on_the_other_a_moment_later() {
    let engine = Engine::single().await;
    let nodes = [
        Queue::new(engine.connection(), engine.blocks()),
        Queue::new(engine.another().await, engine.blocks()),
    ];
    let rules = rules(QueueMode::Paused, 1);
    let numbers = line_up(&nodes[0], &rules).await;
    let now = rules.opens_at;
    assert_eq!(ahead(look(&nodes[1], &rules, (9, &numbers), now).await), 9);
    for leaver in 0..5 {
        nodes[0].leave(rules.schedule, fan(leaver), now).await.unwrap();
    }
    assert_eq!(ahead(look(&nodes[1], &rules, (9, &numbers), now).await), 9, "as of a moment ago");
    let later = now.plus(200 * MS);
    assert_eq!(ahead(look(&nodes[1], &rules, (9, &numbers), later).await), 4);

    // A node that was away until its next changes were trimmed copies everything.
    nodes[0].leave(rules.schedule, fan(5), later).await.unwrap();
    let key = format!("test:{{{}}}:queue:changes", rules.schedule.uuid());
    engine.ask(&["xtrim", &key, "maxlen", "0"]);
    let later = later.plus(200 * MS);
    assert_eq!(ahead(look(&nodes[1], &rules, (9, &numbers), later).await), 3);
}

#[tokio::test]
async fn an_admitted_fan_sees_the_admission_once_the_replica_is_stale() {
    let engine = Engine::single().await;
    let queue = Queue::new(engine.connection(), engine.blocks());
    let mut rules = rules(QueueMode::Paused, 1);
    let numbers = line_up(&queue, &rules).await;
    let now = rules.opens_at;
    assert_eq!(ahead(look(&queue, &rules, (0, &numbers), now).await), 0);
    rules.settings.mode = QueueMode::Auto;
    queue.admit(&rules, now).await.unwrap();
    let seen = look(&queue, &rules, (0, &numbers), now.plus(200 * MS)).await;
    assert!(matches!(seen.position, QueuePosition::Inside(_)), "{seen:?}");
}

#[tokio::test]
async fn places_are_kept_while_the_server_is_away() {
    let mut engine = Engine::single().await;
    let queue = Queue::new(engine.connection(), engine.blocks());
    let rules = rules(QueueMode::Paused, 1);
    let numbers = line_up(&queue, &rules).await;
    let mut now = rules.opens_at;
    assert_eq!(ahead(look(&queue, &rules, (7, &numbers), now).await), 7);
    engine.pause();
    for _ in 0..3 {
        now = now.plus(Duration::from_secs(60));
        let seen = look(&queue, &rules, (7, &numbers), now).await;
        assert_eq!((ahead(seen), seen.is_live), (7, false), "the place is kept");
    }
    let entered = queue.enter(&rules, fan(99), None, now).await;
    assert!(matches!(entered, Err(Error::Unavailable(_))), "no new fan joins: {entered:?}");
    let stranger = queue.position(&rules, fan(99), None, now).await;
    assert!(matches!(stranger, Err(Error::Unavailable(_))), "nothing is guessed: {stranger:?}");
    engine.resume();
    let back = async {
        loop {
            now = now.plus(Duration::from_secs(1));
            let seen = look(&queue, &rules, (7, &numbers), now).await;
            assert_eq!(ahead(seen), 7);
            if seen.is_live {
                break;
            }
            tokio::time::sleep(20 * MS).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), back).await.expect("the server is back");
}
