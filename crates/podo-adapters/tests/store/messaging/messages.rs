//! The outbox: ordered per aggregate, retried, dead-lettered, consumed once.

use crate::world::{Fan, World, at};
use futures::future::join_all;
use podo_app::booking::port::reservations::{ReleaseSeats, Reservations};
use podo_app::messaging::port::messages::{Backlog, Consume, Message, Messages, Notification};
use podo_domain::messaging::messages::{ATTEMPTS_MAX, MessageKind};
use podo_domain::{MessageId, ReservationId, Timestamp};
use std::time::Duration;

/// Holds a seat and releases it: two messages of one aggregate.
async fn hold_and_release(world: &World, fan: &Fan, seat: u32) -> ReservationId {
    let reservation = world.hold(fan, &[seat], at(1)).await.unwrap().reservation_id;
    let command = ReleaseSeats { reservation, user: fan.id, now: at(2) };
    world.store.release_seats(command).await.unwrap();
    reservation
}

async fn due_of(world: &World, reservation: ReservationId, now: Timestamp) -> Vec<Message> {
    let due = world.store.due_messages(now, 1_000).await.unwrap();
    due.into_iter().filter(|message| message.aggregate == reservation.uuid()).collect()
}

async fn fails(world: &World, message: &Message, now: Timestamp) {
    world.store.message_failed(message, "bus down".into(), now).await.unwrap();
}

#[tokio::test]
async fn messages_of_one_aggregate_come_in_order_without_gaps() {
    let world = World::new().await;
    let fan = world.fan().await;
    let reservation = hold_and_release(&world, &fan, 0).await;
    let due = due_of(&world, reservation, at(2)).await;
    let told: Vec<_> = due.iter().map(|message| (message.seq, message.kind)).collect();
    let expected = [(1, MessageKind::ReservationHeld), (2, MessageKind::ReservationReleased)];
    assert_eq!(told, expected);
    assert!(due.iter().all(|message| message.key == world.schedule.uuid()));
    assert!(due[0].payload.contains(&reservation.to_string()), "{}", due[0].payload);
    world.finish().await;
}

#[tokio::test]
async fn a_failing_message_holds_back_its_own_aggregate_only() {
    let world = World::new().await;
    let (fan, other) = (world.fan().await, world.fan().await);
    let stuck = hold_and_release(&world, &fan, 0).await;
    let free = hold_and_release(&world, &other, 1).await;
    let first = &due_of(&world, stuck, at(2)).await[0];
    fails(&world, first, at(2)).await;
    assert_eq!(due_of(&world, stuck, at(2)).await, []);
    assert_eq!(due_of(&world, free, at(2)).await.len(), 2);
    let later = due_of(&world, stuck, at(3)).await;
    assert_eq!((later.len(), later[0].attempts), (2, 1));
    world.finish().await;
}

#[tokio::test]
async fn messages_that_wait_do_not_use_up_the_share_of_others() {
    let world = World::new().await;
    let fans = world.fans(4).await;
    let published = world.store.due_messages(at(2), 1_000).await.unwrap();
    let ids = published.iter().map(|message| message.id).collect();
    world.store.messages_published(ids, at(2)).await.unwrap();
    let mut reservations = Vec::new();
    for (fan, seat) in fans.iter().zip(0..) {
        reservations.push(hold_and_release(&world, fan, seat).await);
    }
    for stuck in &reservations[..3] {
        fails(&world, &due_of(&world, *stuck, at(2)).await[0], at(2)).await;
    }
    let due = world.store.due_messages(at(2), 2).await.unwrap();
    assert!(due.iter().all(|message| message.aggregate == reservations[3].uuid()));
    assert_eq!(due.len(), 2, "the bus is not blocked by what cannot go");
    world.finish().await;
}

#[tokio::test]
async fn a_message_is_dead_after_its_last_try_and_is_never_hidden() {
    let world = World::new().await;
    let fan = world.fan().await;
    let reservation = hold_and_release(&world, &fan, 0).await;
    let before = world.store.backlog().await.unwrap();
    let mut now = at(2);
    for tries in 0..ATTEMPTS_MAX {
        let due = due_of(&world, reservation, now).await;
        assert_eq!((due.len(), due[0].attempts), (2, tries));
        fails(&world, &due[0], now).await;
        now = now.plus(Duration::from_secs(61));
    }
    let due = due_of(&world, reservation, now).await;
    assert_eq!(due.len(), 1, "the next one may go: its number shows the gap");
    assert_eq!(due[0].seq, 2);
    let after = world.store.backlog().await.unwrap();
    assert_eq!((after.dead, after.pending), (1, before.pending - 1));
    world.finish().await;
}

#[tokio::test]
async fn what_was_published_is_not_due_again_and_is_forgotten_in_time() {
    let world = World::new().await;
    let fan = world.fan().await;
    hold_and_release(&world, &fan, 0).await;
    let due = world.store.due_messages(at(2), 1_000).await.unwrap();
    let ids: Vec<MessageId> = due.iter().map(|due| due.id).collect();
    let n_messages = ids.len() as u64;
    world.store.messages_published(ids.clone(), at(3)).await.unwrap();
    world.store.messages_published(ids.clone(), at(4)).await.unwrap();
    world.store.message_failed(&due[0], "a late complaint".into(), at(5)).await.unwrap();
    assert_eq!(world.store.due_messages(at(9_999), 10).await.unwrap(), []);
    assert_eq!(world.store.backlog().await.unwrap(), Backlog::default());
    let a_week_later = at(5).plus(Duration::from_secs(7 * 86_400));
    assert_eq!(world.store.forget_messages(at(3), at(3), 100).await.unwrap(), 0);
    assert_eq!(world.store.forget_messages(at(4), at(4), 1).await.unwrap(), 1);
    assert_eq!(world.store.forget_messages(at(4), at(4), 100).await.unwrap(), n_messages - 1);
    world.advance_to(a_week_later);
    world.finish().await;
}

#[tokio::test]
async fn a_consumer_does_its_work_once_however_often_the_message_comes() {
    let world = World::new().await;
    let fan = world.fan().await;
    let notification = Notification {
        user: Some(fan.id),
        reservation: None,
        subject: "Booked".into(),
        body: "See you there".into(),
        created_at: at(1),
    };
    let command = |consumer| Consume {
        message: MessageId::new(fan.id.uuid()),
        consumer,
        notifications: vec![notification.clone()],
        notices: Vec::new(),
        now: at(2),
    };
    let answers = join_all((0..30).map(|_| world.store.consume(vec![command("letters")]))).await;
    let n_done = answers.iter().filter(|answer| answer.as_ref().unwrap()[0]).count();
    assert_eq!(n_done, 1);
    assert_eq!(world.store.mailbox(fan.id, 10).await.unwrap(), std::slice::from_ref(&notification));
    let other = Consume { notifications: Vec::new(), ..command("seat-map") };
    assert_eq!(world.store.consume(vec![other]).await.unwrap(), [true], "another is on its own");
    world.finish().await;
}

#[tokio::test]
async fn the_order_survives_a_clock_that_steps_back_over_a_restart() {
    let world = World::new().await;
    let fan = world.fan().await;
    let reservation = world.hold(&fan, &[0], at(100)).await.unwrap().reservation_id;
    let restarted = world.restart().await;
    let command = ReleaseSeats { reservation, user: fan.id, now: at(50) };
    restarted.release_seats(command).await.unwrap();
    let due = due_of(&world, reservation, at(100)).await;
    let numbers: Vec<i64> = due.iter().map(|message| message.seq).collect();
    assert_eq!(numbers, [1], "the later one waits for the earlier");
    let first = vec![due[0].id];
    world.store.messages_published(first, at(100)).await.unwrap();
    assert_eq!(due_of(&world, reservation, at(100)).await[0].seq, 2);
    world.finish().await;
}
