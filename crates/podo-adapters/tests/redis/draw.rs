//! The draw of a large lobby goes in slices: another node can take it over, and no fan is admitted
//! before its end.

use crate::engine::{Engine, START};
use crate::nodes::{fan, rules};
use futures::future::join_all;
use podo_adapters::live::redis::Queue;
use podo_app::waiting_room::port::queue::{PlaceProof, Queue as _, Remembered};
use podo_domain::waiting_room::draw;
use podo_domain::waiting_room::{QueueMode, QueuePosition, QueueRules};
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

const N_GATHERED: u32 = 10_000;

/// Returns the lobby index of each fan, because concurrent arrivals may overtake each other.
async fn gather(queue: &Queue, rules: &QueueRules) -> Vec<u32> {
    queue.restore(rules, &Remembered::default(), START).await.unwrap();
    let numbers: Vec<u32> = (0..N_GATHERED).collect();
    let mut fans = vec![0; N_GATHERED as usize];
    for part in numbers.chunks(1_000) {
        let entered = join_all(part.iter().map(|it| queue.enter(rules, fan(*it), None, START)));
        for (number, position) in part.iter().zip(entered.await) {
            let Ok(Some(QueuePosition::Lobby { index, .. })) = position else {
                panic!("{position:?}")
            };
            fans[index as usize] = *number;
        }
    }
    fans
}

/// A node that stops half-way through the draw.
async fn draw_half(engine: &Engine, rules: &QueueRules) {
    let dying = Queue::new(engine.another().await, engine.blocks());
    let mut drawing = dying.admit(rules, rules.opens_at);
    // Every answer of the server wakes it once, so this sees it after each slice.
    poll_fn(|context| {
        let state = drawing.as_mut().poll(context);
        assert!(state.is_pending(), "the draw should take longer: {state:?}");
        match engine.room_field(rules, "drawn_up_to") {
            Some(1..) => Poll::Ready(()),
            Some(0) | None => Poll::Pending,
        }
    })
    .await;
    let up_to = engine.room_field(rules, "drawn_up_to").unwrap();
    assert!(up_to < u64::from(N_GATHERED), "the node died half-way, at {up_to}");
}

#[tokio::test]
async fn a_draw_that_stopped_half_way_is_finished_by_another_node() {
    let engine = Engine::single().await;
    let node = Queue::new(engine.connection(), engine.blocks());
    let rules = rules(QueueMode::Auto, 5);
    let fans = gather(&node, &rules).await;
    let fan_at = |index: u32| fan(fans[index as usize]);
    draw_half(&engine, &rules).await;
    let counts = node.counts(rules.schedule, rules.opens_at).await.unwrap();
    assert_eq!((counts.inside, counts.drawn), (0, 0), "no fan is admitted before its end");
    node.leave(rules.schedule, fan_at(0), rules.opens_at).await.unwrap();
    node.leave(rules.schedule, fan_at(N_GATHERED - 1), rules.opens_at).await.unwrap();

    let admitted = node.admit(&rules, rules.opens_at).await.unwrap().unwrap();
    let ranks = draw::permutation(&rules.draw_seed, N_GATHERED);
    let mut expected: Vec<u32> = (1..N_GATHERED - 1).collect();
    expected.sort_by_key(|index| ranks[*index as usize]);
    let let_in: Vec<_> = admitted.iter().map(|admission| admission.fan).collect();
    assert_eq!(let_in, expected[..5].iter().map(|index| fan_at(*index)).collect::<Vec<_>>());
    for (place, index) in expected.iter().enumerate().skip(5).step_by(997) {
        let ahead = (place - 5) as u64;
        // A fan of the lobby gets the same answer by name and by the lobby's proof.
        for proof in [None, Some(PlaceProof::Lobby { index: *index })] {
            let seen = node.position(&rules, fan_at(*index), proof, rules.opens_at).await.unwrap();
            let is_right =
                matches!(seen.position, QueuePosition::Waiting { ahead: a, .. } if a == ahead);
            assert!(is_right, "{ahead} by {proof:?}: {seen:?}");
        }
    }
}

#[tokio::test]
async fn every_key_of_a_room_goes_away_some_day() {
    let engine = Engine::single().await;
    let queue = Queue::new(engine.connection(), engine.blocks());
    let rules = rules(QueueMode::Auto, 2);
    queue.restore(&rules, &Remembered::default(), START).await.unwrap();
    for number in 0..6 {
        queue.enter(&rules, fan(number), None, START).await.unwrap();
        engine.assert_every_key_ends();
    }
    let mut now = rules.opens_at;
    for number in 0..6 {
        queue.admit(&rules, now).await.unwrap();
        engine.assert_every_key_ends();
        queue.leave(rules.schedule, fan(number), now).await.unwrap();
        engine.assert_every_key_ends();
        now = now.plus(Duration::from_secs(61));
    }
}
