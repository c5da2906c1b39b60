//! Venues, halls, events and their dates.

use crate::world::{FAR, NEAR, SALE_S, World, at, line, refusal, won};
use podo_app::Error;
use podo_app::catalog::images::port::{
    BeginImage, Images, NewImage, PlaceImage, RemoveImage, Slot,
};
use podo_app::catalog::port::{
    CancelSchedule, Catalog, ChangeEvent, ChangeQueue, CreateEvent, CreateHall, EventFilter,
    EventVerb,
};
use podo_app::store::PageRequest;
use podo_domain::catalog::images::ImageHash;
use podo_domain::catalog::{EventStatus, NewEvent, SaleTerms, ScheduleStatus};
use podo_domain::waiting_room::{QueueMode, QueueSettings};
use podo_domain::{EventId, HallId, Refusal, ScheduleId, Timestamp, VenueId};
use std::collections::BTreeMap;
use std::time::Duration;

const ALL: PageRequest = PageRequest { limit: 100, after: None };

fn change(world: &World, verb: EventVerb) -> ChangeEvent {
    ChangeEvent { actor: world.admin, event: world.event, verb, now: at(0) }
}

async fn found(world: &World, filter: EventFilter) -> usize {
    world.store.events(filter, ALL).await.unwrap().len()
}

#[tokio::test]
async fn a_schedule_gets_every_seat_of_its_hall_with_its_price() {
    let world = World::new().await;
    let seats = world.store.seats_of(world.schedule).await.unwrap();
    assert_eq!(seats.len(), 40);
    assert_eq!((seats[0].number.as_str(), seats[0].price), ("A-1", won(NEAR)));
    assert_eq!((seats[39].number.as_str(), seats[39].price), ("D-10", won(FAR)));
    assert!(seats.iter().zip(0..).all(|(seat, index)| seat.index == index));
    let schedule = world.store.schedule(world.schedule).await.unwrap().unwrap();
    assert_eq!((schedule.n_seats, schedule.sequence), (40, 1));
    assert_eq!(schedule.prices["VIP"], won(NEAR));
    assert_eq!(schedule.draw_seed, [3; 32]);
    assert!(world.store.template_of(world.schedule).await.unwrap().is_some());
    world.finish().await;
}

#[tokio::test]
async fn dates_of_an_event_are_numbered_in_the_order_of_their_making() {
    let world = World::new().await;
    let second = ScheduleId::with_room_for_seats(world.id());
    let n_seats = world.store.create_schedule(world.schedule_command(second, 4)).await.unwrap();
    assert_eq!(n_seats, 40);
    let schedules = world.store.schedules_of(world.event).await.unwrap();
    let numbered: Vec<_> = schedules.iter().map(|one| (one.sequence, one.schedule)).collect();
    assert_eq!(numbered, [(1, world.schedule), (2, second)]);
    world.finish().await;
}

#[tokio::test]
async fn a_schedule_with_a_wrong_price_list_is_not_made_at_all() {
    let world = World::new().await;
    let schedule = ScheduleId::with_room_for_seats(world.id());
    let mut command = world.schedule_command(schedule, 4);
    command.prices = BTreeMap::from([("VIP".into(), won(NEAR))]);
    let told = refusal(world.store.create_schedule(command).await);
    assert!(matches!(told, Refusal::InvalidTemplate { .. }), "{told:?}");
    assert!(world.store.schedule(schedule).await.unwrap().is_none());
    assert_eq!(world.store.seats_of(schedule).await.unwrap(), []);
    world.finish().await;
}

#[tokio::test]
async fn halls_need_a_venue_and_a_name_of_their_own() {
    let world = World::new().await;
    let template = world.store.template_of(world.schedule).await.unwrap().unwrap();
    let hall = |venue, name: &str| CreateHall {
        actor: world.admin,
        hall: HallId::new(world.id()),
        venue,
        name: name.into(),
        template: template.clone(),
        capacity: 40,
        now: at(0),
    };
    let nowhere = VenueId::new(world.id());
    assert_eq!(refusal(world.store.create_hall(hall(nowhere, "Main")).await), Refusal::NotFound);
    let twice = refusal(world.store.create_hall(hall(world.venue, "Main")).await);
    assert_eq!(twice, Refusal::NameTaken);
    world.store.create_hall(hall(world.venue, "Small")).await.unwrap();
    world.finish().await;
}

#[tokio::test]
async fn an_event_needs_a_hall_of_its_venue_and_dates_need_a_living_event() {
    let world = World::new().await;
    let command = CreateEvent {
        actor: world.admin,
        event: EventId::new(world.id()),
        new: NewEvent::new(
            line("Elsewhere"),
            line("No artist"),
            VenueId::new(world.id()),
            world.hall,
        ),
        terms: SaleTerms::default(),
        now: at(0),
    };
    assert_eq!(refusal(world.store.create_event(command).await), Refusal::NotFound);
    world.store.change_event(change(&world, EventVerb::End)).await.unwrap();
    let schedule = ScheduleId::with_room_for_seats(world.id());
    let told = refusal(world.store.create_schedule(world.schedule_command(schedule, 4)).await);
    assert_eq!(told, Refusal::WrongEventState);
    world.finish().await;
}

#[tokio::test]
async fn an_event_goes_through_its_life_and_a_repeat_changes_nothing() {
    let world = World::new().await;
    for _ in 0..2 {
        let status = world.store.change_event(change(&world, EventVerb::Open)).await.unwrap();
        assert_eq!(status, EventStatus::Open);
    }
    world.store.change_event(change(&world, EventVerb::End)).await.unwrap();
    for verb in [EventVerb::Open, EventVerb::Cancel] {
        let told = refusal(world.store.change_event(change(&world, verb)).await);
        assert_eq!(told, Refusal::WrongEventState);
    }
    assert_eq!(world.told(world.event.uuid()).await.len(), 1, "the opening has one message");
    world.finish().await;
}

#[tokio::test]
async fn events_are_found_by_their_words_city_state_and_dates() {
    let world = World::new().await;
    let by = |query: &str| EventFilter { query: Some(query.into()), ..EventFilter::default() };
    assert_eq!(found(&world, EventFilter::default()).await, 1);
    assert_eq!(found(&world, by("gRAPe")).await, 1);
    assert_eq!(found(&world, by("%")).await, 0, "a sign of the pattern is a sign of the text");
    let city = Some("Busan".to_owned());
    assert_eq!(found(&world, EventFilter { city, ..EventFilter::default() }).await, 0);
    let only = Some(EventStatus::Open);
    assert_eq!(found(&world, EventFilter { only, ..EventFilter::default() }).await, 1);
    let from = Some(at(2 * SALE_S));
    assert_eq!(found(&world, EventFilter { from, ..EventFilter::default() }).await, 1);
    let to = from;
    assert_eq!(found(&world, EventFilter { to, ..EventFilter::default() }).await, 0);
    assert!(world.store.event(world.event).await.unwrap().is_some());
    world.finish().await;
}

#[tokio::test]
async fn events_are_found_by_the_opening_of_a_sale() {
    let world = World::new().await;
    let record = world.store.schedule(world.schedule).await.unwrap().unwrap();
    let opens_at = record.times.sale_starts_at;
    let between = |from: Timestamp, to: Timestamp| EventFilter {
        opens_from: Some(from),
        opens_to: Some(to),
        ..EventFilter::default()
    };
    let second = Duration::from_secs(1);
    assert_eq!(found(&world, between(opens_at, opens_at.plus(second))).await, 1);
    assert_eq!(found(&world, between(opens_at.minus(second), opens_at)).await, 0);
    assert_eq!(found(&world, between(opens_at.plus(second), Timestamp::FAR_FUTURE)).await, 0);
    world.finish().await;
}

fn an_image() -> NewImage {
    NewImage {
        widths: vec![320, 640],
        width: 640,
        height: 853,
        tone: "#101820".to_owned(),
        alt: "a poster".to_owned(),
    }
}

fn place(world: &World, slot: Slot, hash: ImageHash, now: Timestamp) -> PlaceImage {
    let (actor, event) = (world.admin, world.event);
    PlaceImage { actor, event, slot, hash, image: an_image(), now }
}

/// The cleanup and an upload of the same picture meet: the first one that claims the files decides.
#[tokio::test]
async fn files_that_are_being_removed_are_not_shown_and_shown_ones_are_not_removed() {
    let world = World::new().await;
    let store = &world.store;
    let (hash, begun) = (ImageHash([7; 16]), at(0));
    let begin = |now| BeginImage { hash, widths: vec![320, 640], now };
    let early = place(&world, Slot::Poster, hash, begun);
    let refused = store.place_image(early.clone()).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "its files were never stored");
    store.begin_image(begin(begun)).await.unwrap();
    let later = begun.plus(Duration::from_secs(60));
    assert_eq!(store.claim_unused_images(begun, 10).await.unwrap(), [], "they are too young");
    let claimed = store.claim_unused_images(later, 10).await.unwrap();
    assert_eq!(claimed.iter().map(|it| it.width).collect::<Vec<_>>(), [320, 640]);
    assert!(matches!(store.begin_image(begin(later)).await, Err(Error::Unavailable(_))));
    assert!(matches!(store.place_image(early).await, Err(Error::Unavailable(_))));
    let again = store.claim_unused_images(later, 10).await.unwrap();
    assert_eq!(again, claimed, "a round that failed is repeated");
    store.forget_image(hash).await.unwrap();

    store.begin_image(begin(begun)).await.unwrap();
    store.place_image(place(&world, Slot::Poster, hash, begun)).await.unwrap();
    assert_eq!(store.claim_unused_images(later, 10).await.unwrap(), [], "the event shows it");
    let poster = store.event(world.event).await.unwrap().unwrap().poster.unwrap();
    assert_eq!((poster.hash.as_str(), poster.width), (hash.to_string().as_str(), 640));
    let (actor, event) = (world.admin, world.event);
    let remove = RemoveImage { actor, event, picture: None, now: later };
    store.remove_image(remove.clone()).await.unwrap();
    assert_eq!(refusal(store.remove_image(remove).await), Refusal::NotFound);
    assert_eq!(store.claim_unused_images(later, 10).await.unwrap().len(), 2);
    world.finish().await;
}

#[tokio::test]
async fn a_gallery_is_full_after_eight_pictures_even_if_they_come_at_once() {
    let world = World::new().await;
    let uploads = (0..10_u8).map(async |number| {
        let hash = ImageHash([number; 16]);
        let begin = BeginImage { hash, widths: vec![320], now: at(0) };
        world.store.begin_image(begin).await.unwrap();
        world.store.place_image(place(&world, Slot::Gallery, hash, at(0))).await
    });
    let answers = futures::future::join_all(uploads).await;
    let (placed, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    assert_eq!((placed.len(), refused.len()), (8, 2));
    assert!(refused.into_iter().all(|it| refusal(it) == Refusal::GalleryFull));
    assert_eq!(world.store.gallery(world.event).await.unwrap().len(), 8);
    world.finish().await;
}

#[tokio::test]
async fn the_stored_status_of_a_date_follows_its_sale() {
    let world = World::new().await;
    let by_status =
        |status| EventFilter { schedule_status: Some(status), ..EventFilter::default() };
    let stored = async || world.store.schedule(world.schedule).await.unwrap().unwrap().status;
    let update =
        async |seconds| world.store.update_schedule_statuses(10, at(seconds)).await.unwrap();
    let later = ScheduleId::with_room_for_seats(world.id());
    let mut command = world.schedule_command(later, 4);
    command.times.sale_starts_at = at(100);
    world.store.create_schedule(command).await.unwrap();
    assert_eq!(update(-1).await, 0, "neither sale has opened");
    assert_eq!(stored().await, ScheduleStatus::Upcoming);
    assert_eq!(update(0).await, 1, "the sale of the first date opens");
    assert_eq!(stored().await, ScheduleStatus::Ongoing);
    assert_eq!(found(&world, by_status(ScheduleStatus::Upcoming)).await, 1);
    assert_eq!(update(100).await, 1, "the sale of the second date opens");
    assert_eq!(found(&world, by_status(ScheduleStatus::Upcoming)).await, 0);
    assert_eq!(found(&world, by_status(ScheduleStatus::Ongoing)).await, 1);
    assert_eq!(update(SALE_S).await, 2);
    assert_eq!(stored().await, ScheduleStatus::Ended);
    assert_eq!(update(SALE_S + 1).await, 0, "a repeat changes nothing");
    world.finish().await;
}

#[tokio::test]
async fn a_cancelled_date_stays_cancelled_when_its_sale_would_open_or_end() {
    let world = World::new().await;
    let command = CancelSchedule { actor: world.admin, schedule: world.schedule, now: at(1) };
    world.store.cancel_schedule(command).await.unwrap();
    assert_eq!(world.store.update_schedule_statuses(10, at(SALE_S)).await.unwrap(), 0);
    let stored = world.store.schedule(world.schedule).await.unwrap().unwrap().status;
    assert_eq!(stored, ScheduleStatus::Cancelled);
    world.finish().await;
}

#[tokio::test]
async fn a_queue_lives_from_the_day_before_the_sale_until_an_hour_after() {
    let world = World::new().await;
    let n_alive = async |seconds| world.store.schedules_alive(at(seconds)).await.unwrap().len();
    assert_eq!(n_alive(-86_400).await, 0);
    assert_eq!(n_alive(-86_399).await, 1);
    assert_eq!(n_alive(SALE_S + 3_599).await, 1);
    assert_eq!(n_alive(SALE_S + 3_600).await, 0);
    world.finish().await;
}

#[tokio::test]
async fn an_organiser_changes_the_queue_of_a_schedule_that_exists() {
    let world = World::new().await;
    let settings = QueueSettings { mode: QueueMode::Paused, ..QueueSettings::default() };
    let command = |schedule| ChangeQueue {
        actor: world.admin,
        schedule,
        settings: settings.clone(),
        now: at(0),
    };
    world.store.change_queue(command(world.schedule)).await.unwrap();
    let found = world.store.schedule(world.schedule).await.unwrap().unwrap();
    assert_eq!(found.queue, settings);
    let nowhere = ScheduleId::with_room_for_seats(world.id());
    assert_eq!(refusal(world.store.change_queue(command(nowhere)).await), Refusal::NotFound);
    world.finish().await;
}
