//! Changed dates and reminders: each fan gets one message, however many nodes write them.

use crate::identity::support::{has, lines};
use crate::world::{World, at, refusal};
use futures::future::join_all;
use podo_app::booking::port::reservations::Held;
use podo_app::catalog::port::{Catalog, ChangeSchedule};
use podo_app::identity::port::accounts::Accounts;
use podo_app::identity::support::port::{SupportSubject, TimelineKind};
use podo_app::messaging::port::announcements::{Announcements, Subject};
use podo_app::messaging::port::messages::{Message, Messages};
use podo_domain::catalog::ScheduleChange;
use podo_domain::messaging::announcements::AnnouncementKind;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::payments::PaymentMethod;
use podo_domain::{EventId, Refusal, ScheduleId, Timestamp, UserId};
use std::time::Duration;

/// Buys these seats from the wallet.
async fn buy(world: &World, fan: &crate::world::Fan, seats: &[u32], now: i64) -> Held {
    let held = world.hold(fan, seats, at(now)).await.unwrap();
    let wallet = PaymentMethod::Wallet;
    let ready = world.request(fan, held.reservation_id, wallet, at(now)).await.unwrap();
    world.confirm(fan, &ready, at(now)).await.unwrap();
    held
}

async fn starts_at(world: &World) -> Timestamp {
    world.store.schedule(world.schedule).await.unwrap().unwrap().times.starts_at
}

async fn postpone(world: &World, by: Duration, now: Timestamp) {
    let times = world.store.schedule(world.schedule).await.unwrap().unwrap().times;
    let change = ScheduleChange {
        starts_at: Some(times.starts_at.plus(by)),
        ends_at: Some(times.ends_at.plus(by)),
        ..ScheduleChange::default()
    };
    let command = ChangeSchedule { actor: world.admin, schedule: world.schedule, change, now };
    world.store.change_schedule(command).await.unwrap();
}

/// Writes all announcements as four nodes at once would, in pages of two.
async fn announce_all(world: &World, now: Timestamp) {
    loop {
        let open = world.store.open_announcements(now, 10).await.unwrap();
        if open.is_empty() {
            return;
        }
        for announcement in open {
            let one = || world.store.announce_some(announcement.id, 2, now);
            let results = join_all([one(), one(), one(), one()]).await;
            let is_fine = |it: &podo_app::Result<u64>| {
                matches!(it, Ok(_) | Err(podo_app::Error::Conflict(_)))
            };
            assert!(results.iter().all(is_fine), "{results:?}");
        }
    }
}

async fn messages(world: &World, kind: MessageKind, now: Timestamp) -> Vec<Message> {
    let due = world.store.due_messages(now, 1_000).await.unwrap();
    due.into_iter().filter(|message| message.kind == kind).collect()
}

#[tokio::test]
async fn a_new_date_goes_to_each_booking_once_and_can_be_accepted() {
    let world = World::new().await;
    let fans = world.fans(3).await;
    let mut bookings = Vec::new();
    for (fan, seat) in fans.iter().zip([10, 12, 14]) {
        world.charge(fan, 1_000_000).await;
        bookings.push(buy(&world, fan, &[seat, seat + 1], 1).await);
    }
    assert!(world.store.open_changes(fans[0].id, at(2)).await.unwrap().is_empty());
    postpone(&world, Duration::from_secs(60), at(2)).await;
    announce_all(&world, at(3)).await;
    let told = messages(&world, MessageKind::ReservationMoved, at(3)).await;
    assert_eq!(told.len(), 3, "one for each booking, not for each seat");
    let open = world.store.open_changes(fans[0].id, at(3)).await.unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].after.starts_at, starts_at(&world).await);
    let moved = world.store.announced_change(open[0].id).await.unwrap().unwrap();
    assert_eq!(moved.before, open[0].before);
    let (mine, others) = (bookings[0].reservation_id, bookings[1].reservation_id);
    let refused = world.store.accept_change(others, fans[0].id, at(4)).await;
    assert_eq!(refusal(refused), Refusal::NotFound);
    for _again in 0..2 {
        world.store.accept_change(mine, fans[0].id, at(4)).await.unwrap();
    }
    assert!(world.store.open_changes(fans[0].id, at(5)).await.unwrap().is_empty());
    for (fan, has_accepted) in [(&fans[0], true), (&fans[1], false)] {
        let told = lines(&world, SupportSubject::Person(fan.id)).await;
        assert!(has(&told, TimelineKind::Change, "MOVED"), "{told:?}");
        assert_eq!(has(&told, TimelineKind::Change, "ACCEPTED"), has_accepted, "{told:?}");
    }
    let told = lines(&world, SupportSubject::Booking(mine)).await;
    assert!(has(&told, TimelineKind::Change, "ACCEPTED"), "{told:?}");
    let show = starts_at(&world).await;
    assert!(world.store.open_changes(fans[1].id, show).await.unwrap().is_empty(), "it has begun");
    world.finish().await;
}

#[tokio::test]
async fn reminders_are_planned_once_and_not_for_a_date_that_moved() {
    let world = World::new().await;
    let fan = world.fan().await;
    world.charge(&fan, 1_000_000).await;
    buy(&world, &fan, &[10], 1).await;
    let show = starts_at(&world).await;
    let early = show.minus(Duration::from_secs(25 * 3_600));
    assert_eq!(world.store.plan_reminders(early, 10).await.unwrap(), 0);
    let day_before = show.minus(Duration::from_secs(23 * 3_600));
    assert_eq!(world.store.plan_reminders(day_before, 10).await.unwrap(), 1);
    assert_eq!(world.store.plan_reminders(day_before, 10).await.unwrap(), 0);
    postpone(&world, Duration::from_secs(48 * 3_600), day_before).await;
    announce_all(&world, day_before).await;
    let reminded = messages(&world, MessageKind::ShowReminder, day_before).await;
    assert!(reminded.is_empty(), "the show is no longer tomorrow");
    let day_before = day_before.plus(Duration::from_secs(48 * 3_600));
    assert_eq!(world.store.plan_reminders(day_before, 10).await.unwrap(), 1);
    announce_all(&world, day_before).await;
    let reminded = messages(&world, MessageKind::ShowReminder, day_before).await;
    assert_eq!(reminded.len(), 1);
    assert!(reminded[0].payload.contains(&fan.id.to_string()), "{}", reminded[0].payload);
    world.finish().await;
}

#[tokio::test]
async fn fans_who_asked_are_reminded_of_an_opening() {
    let world = World::new().await;
    let (asks, leaves) = (world.fan().await, world.fan().await);
    let (store, schedule) = (&world.store, world.schedule);
    let early = at(-3_600);
    for fan in [&asks, &leaves] {
        for _again in 0..2 {
            store.ask_for_sale_reminder(schedule, fan.id, early).await.unwrap();
        }
    }
    assert_eq!(store.sale_reminders_of(asks.id).await.unwrap(), [schedule]);
    store.drop_sale_reminder(schedule, leaves.id).await.unwrap();
    let unknown = ScheduleId::with_room_for_seats(world.id());
    let refused = store.ask_for_sale_reminder(unknown, asks.id, early).await;
    assert_eq!(refusal(refused), Refusal::NotFound);
    let late = store.ask_for_sale_reminder(schedule, asks.id, at(0)).await;
    assert_eq!(refusal(late), Refusal::SaleBegun);
    assert_eq!(store.plan_reminders(at(-1_900), 10).await.unwrap(), 0);
    assert_eq!(store.plan_reminders(at(-1_700), 10).await.unwrap(), 1);
    let open = store.open_announcements(at(-1_700), 10).await.unwrap();
    assert_eq!(open[0].kind, AnnouncementKind::SaleReminder);
    announce_all(&world, at(-1_700)).await;
    let reminded = messages(&world, MessageKind::SaleReminder, at(-1_700)).await;
    assert_eq!(reminded.len(), 1);
    assert!(reminded[0].payload.contains(&asks.id.to_string()), "{}", reminded[0].payload);
    let after = starts_at(&world).await.plus(Duration::from_secs(400 * 86_400));
    assert!(store.forget_announcements(after, 100).await.unwrap() >= 2);
    assert!(store.sale_reminders_of(asks.id).await.unwrap().is_empty());
    world.finish().await;
}

#[tokio::test]
async fn followers_of_an_artist_are_reminded_of_every_opening_once() {
    let world = World::new().await;
    let (follows, both, left) = (world.fan().await, world.fan().await, world.fan().await);
    let (store, schedule) = (&world.store, world.schedule);
    let early = at(-7_200);
    for fan in [&follows, &both, &left] {
        for _again in 0..2 {
            store.follow_artist(world.event, fan.id, early).await.unwrap();
        }
    }
    store.ask_for_sale_reminder(schedule, both.id, early).await.unwrap();
    let artist = store.followed_artists(left.id).await.unwrap().remove(0);
    store.unfollow_artist(artist.clone(), left.id).await.unwrap();
    assert!(store.followed_artists(left.id).await.unwrap().is_empty());
    assert_eq!(store.followed_artists(follows.id).await.unwrap(), [artist]);
    let unknown = EventId::new(world.id());
    let refused = store.follow_artist(unknown, follows.id, early).await;
    assert_eq!(refusal(refused), Refusal::NotFound);
    assert_eq!(store.plan_reminders(at(-1_700), 10).await.unwrap(), 1);
    announce_all(&world, at(-1_700)).await;
    let reminded = messages(&world, MessageKind::SaleReminder, at(-1_700)).await;
    let n_to =
        |fan: UserId| reminded.iter().filter(|it| it.payload.contains(&fan.to_string())).count();
    assert_eq!((n_to(follows.id), n_to(both.id), n_to(left.id)), (1, 1, 0));
    store.erase(follows.id, at(2)).await.unwrap();
    assert!(store.followed_artists(follows.id).await.unwrap().is_empty());
    world.finish().await;
}

#[tokio::test]
async fn facts_name_the_show_the_venue_and_the_seats() {
    let world = World::new().await;
    let fan = world.fan().await;
    world.charge(&fan, 1_000_000).await;
    let held = buy(&world, &fan, &[10, 11], 1).await;
    let unknown = podo_domain::ReservationId::new(world.id());
    let subjects = vec![
        Subject::Reservation(unknown),
        Subject::Reservation(held.reservation_id),
        Subject::Schedule(world.schedule),
    ];
    let facts = world.store.show_facts(subjects).await.unwrap();
    assert!(facts[0].is_none());
    let booked = facts[1].as_ref().unwrap();
    assert_eq!((booked.title.as_str(), booked.venue.as_str()), ("Podo Live", "Olympic Hall"));
    assert_eq!((booked.hall.as_str(), booked.time_zone.as_str()), ("Main", "Asia/Seoul"));
    let booking = booked.booking.as_ref().unwrap();
    assert_eq!((booking.seats.len(), booking.amount), (2, held.amount));
    assert!(booking.number.is_some());
    assert!(facts[2].as_ref().unwrap().booking.is_none());
    world.finish().await;
}
