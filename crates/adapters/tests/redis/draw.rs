//! The draw of a large lobby goes in slices: it can be taken over, and nobody is let in before
//! its end.

use crate::engine::{Engine, START};
use crate::nodes::{fan, rules};
use adapters::redis::Queue;
use app::ports::queue::{Queue as _, Remembered, Returning};
use domain::draw;
use domain::queue::{QueueMode, QueueRules, Standing};
use futures::future::join_all;
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

const N_GATHERED: u32 = 10_000;

/// Says who has which place of the lobby: those who come in one breath may overtake each other.
async fn gather(queue: &Queue, rules: &QueueRules) -> Vec<u32> {
    queue.restore(rules, &Remembered::default(), START).await.unwrap();
    let numbers: Vec<u32> = (0..N_GATHERED).collect();
    let mut fans = vec![0; N_GATHERED as usize];
    for part in numbers.chunks(1_000) {
        let entered = join_all(part.iter().map(|it| queue.enter(rules, fan(*it), None, START)));
        for (number, standing) in part.iter().zip(entered.await) {
            let Ok(Some(Standing::Lobby { index, .. })) = standing else { panic!("{standing:?}") };
            fans[index as usize] = *number;
        }
    }
    fans
}

/// A node that draws until it is told to stop, half-way.
async fn draw_half(engine: &Engine, rules: &QueueRules) {
    let dying = Queue::new(engine.another().await, engine.blocks());
    let mut drawing = dying.admit(rules, rules.opens_at);
    // Every answer of the server wakes it once, so it is seen after each slice.
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
    assert_eq!((counts.inside, counts.drawn), (0, 0), "nobody is let in while it is unfinished");
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
        // Whoever gathered is told it by name and by the proof from the lobby alike.
        for proof in [None, Some(Returning::Lobby { index: *index })] {
            let seen = node.standing(&rules, fan_at(*index), proof, rules.opens_at).await.unwrap();
            let is_right =
                matches!(seen.standing, Standing::Waiting { ahead: a, .. } if a == ahead);
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
