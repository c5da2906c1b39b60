//! Two nodes on one Redis, which know nothing of each other: the rules still hold.

use crate::engine::{Engine, START};
use futures::future::join_all;
use podo_adapters::live::redis::{Queue, SeatFilter};
use podo_app::booking::port::seat_filter::{SeatFilter as _, Taken};
use podo_app::waiting_room::port::queue::{Queue as _, Remembered};
use podo_domain::booking::seats::SeatPick;
use podo_domain::waiting_room::draw;
use podo_domain::waiting_room::{QueueMode, QueuePosition, QueueRules, QueueSettings};
use podo_domain::{ScheduleId, UserId};
use std::time::Duration;
use uuid::Uuid;

pub(crate) fn fan(number: u32) -> UserId {
    UserId::new(Uuid::from_u128(number.into()))
}

pub(crate) fn schedule() -> ScheduleId {
    ScheduleId::with_room_for_seats(Uuid::from_u128(1 << 64))
}

pub(crate) fn rules(mode: QueueMode, max_active: u32) -> QueueRules {
    let settings = QueueSettings { mode, max_active, ..QueueSettings::default() };
    QueueRules {
        schedule: schedule(),
        settings,
        opens_at: START.plus(Duration::from_secs(1)),
        draw_seed: [7; 32],
    }
}

#[tokio::test]
async fn all_ask_at_the_opening_and_the_order_is_drawn_once() {
    const N_GATHERED: u32 = 2_000;
    let engine = Engine::single().await;
    let nodes = [
        Queue::new(engine.connection(), engine.blocks()),
        Queue::new(engine.another().await, engine.blocks()),
    ];
    let rules = rules(QueueMode::Paused, 1);
    nodes[0].restore(&rules, &Remembered::default(), START).await.unwrap();
    for number in 0..N_GATHERED {
        nodes[0].enter(&rules, fan(number), None, START).await.unwrap();
    }
    let ask = |number: u32| {
        let node = &nodes[number as usize % nodes.len()];
        node.position(&rules, fan(number), None, rules.opens_at)
    };
    let standings = join_all((0..N_GATHERED).map(ask)).await;
    let ranks = draw::permutation(&rules.draw_seed, N_GATHERED);
    for (position, rank) in standings.into_iter().zip(ranks) {
        let position = position.unwrap().position;
        let is_drawn =
            matches!(position, QueuePosition::Waiting { ahead, .. } if ahead == u64::from(rank));
        assert!(is_drawn, "place {rank} was drawn, but the engine says {position:?}");
    }
    let counts = nodes[1].counts(rules.schedule, rules.opens_at).await.unwrap();
    assert_eq!((counts.drawn, counts.waiting), (N_GATHERED.into(), N_GATHERED.into()));
}

#[tokio::test]
async fn two_nodes_never_let_in_more_than_the_cap() {
    const N_FANS: u32 = 500;
    const MAX_ACTIVE: u32 = 20;
    let engine = Engine::cluster().await;
    let nodes = [
        Queue::new(engine.connection(), engine.blocks()),
        Queue::new(engine.another().await, engine.blocks()),
    ];
    let rules = rules(QueueMode::Auto, MAX_ACTIVE);
    nodes[0].restore(&rules, &Remembered::default(), START).await.unwrap();
    let now = rules.opens_at;
    let visit = |number: u32| {
        let (nodes, rules) = (&nodes, &rules);
        async move {
            let node = &nodes[number as usize % nodes.len()];
            let position = node.enter(rules, fan(number), None, now).await.unwrap().unwrap();
            let admitted = node.admit(rules, now).await.unwrap().unwrap();
            admitted.len() + usize::from(matches!(position, QueuePosition::Inside(_)))
        }
    };
    let n_let_in: usize = join_all((0..N_FANS).map(visit)).await.into_iter().sum();
    assert_eq!(n_let_in, MAX_ACTIVE as usize, "each slot is given once");
    let counts = nodes[0].counts(rules.schedule, now).await.unwrap();
    assert_eq!((counts.inside, counts.waiting), (MAX_ACTIVE.into(), (N_FANS - MAX_ACTIVE).into()));
}

#[tokio::test]
async fn of_many_fans_on_two_nodes_one_gets_the_seat() {
    let engine = Engine::single().await;
    let nodes = [SeatFilter::new(engine.connection()), SeatFilter::new(engine.another().await)];
    let pick = SeatPick::new(schedule(), &[schedule().seat(1), schedule().seat(2)]).unwrap();
    let until = START.plus(Duration::from_secs(300));
    let take = |number: u32| nodes[number as usize % 2].take(&pick, fan(number), until, START);
    let answers = join_all((0..200).map(take)).await;
    let n_taken = answers.into_iter().filter(|answer| matches!(answer, Ok(Taken::Yes))).count();
    assert_eq!(n_taken, 1);
}
