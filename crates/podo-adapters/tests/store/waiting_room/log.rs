//! The log of waiting room events.

use crate::world::{World, at};
use podo_app::waiting_room::port::log::{QueueEventsOf, QueueLog};
use podo_domain::UserId;
use podo_domain::waiting_room::{QueueEvent, QueueEventKind};
use uuid::Uuid;

fn event(world: &World, user: UserId, kind: QueueEventKind, seconds: i64) -> QueueEvent {
    let (number, position) = (Some(7), Some(3));
    QueueEvent { schedule: world.schedule, user, kind, number, position, at: at(seconds) }
}

async fn kinds(world: &World, user: UserId, before: Option<Uuid>) -> Vec<(Uuid, QueueEventKind)> {
    let asked = QueueEventsOf { user, schedule: Some(world.schedule), before, limit: 2 };
    let events = world.store.queue_events(asked).await.unwrap();
    events.into_iter().map(|(id, event)| (id, event.kind)).collect()
}

#[tokio::test]
async fn a_fans_events_are_paged_newest_first_and_forgotten_in_time() {
    let world = World::new().await;
    let (fan, other) = (world.fan().await.id, world.fan().await.id);
    let events = vec![
        event(&world, fan, QueueEventKind::Entered, 10),
        event(&world, other, QueueEventKind::Entered, 11),
        event(&world, fan, QueueEventKind::PositionSeen, 20),
        event(&world, fan, QueueEventKind::Left, 30),
    ];
    world.store.append_queue_events(events.clone(), at(40)).await.unwrap();
    let first = kinds(&world, fan, None).await;
    assert_eq!(first[0].1, QueueEventKind::Left);
    assert_eq!(first[1].1, QueueEventKind::PositionSeen);
    let last = kinds(&world, fan, Some(first[1].0)).await;
    assert_eq!(last.iter().map(|(_, kind)| *kind).collect::<Vec<_>>(), [QueueEventKind::Entered]);
    let asked = QueueEventsOf { user: fan, schedule: None, before: None, limit: 9 };
    let stored = world.store.queue_events(asked).await.unwrap();
    assert_eq!(stored[2].1, events[0], "every field comes back");
    assert_eq!(world.store.forget_queue_events(at(25), 2).await.unwrap(), 2);
    assert_eq!(world.store.forget_queue_events(at(25), 2).await.unwrap(), 1);
    assert_eq!(kinds(&world, fan, None).await.len(), 1);
    world.finish().await;
}
