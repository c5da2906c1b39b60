//! Holds: how long, how many, whose, and when.

use crate::support::client::text;
use crate::support::world::{PRICE, Plan, Show, World};
use podo_app::catalog::schedules::queue_rules;
use podo_app::waiting_room::port::queue::Admission;
use podo_domain::waiting_room::{Entry, QueueSettings};
use serde_json::json;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_that_runs_out_frees_the_seat_for_the_next_fan() {
    let world = World::with(&[("PODO_HOLD_SECONDS", "1")]).await;
    let show = world.show(Plan::default()).await;
    let (first, second) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    let reservation = first.hold(&show, &[0]).await;
    second.select(&show, &[0]).await.refused(409, "SEAT_TAKEN");
    show.wait_for_letter(&world.stranger, 0, 'H').await;
    show.wait_for_letter(&world.stranger, 0, 'A').await;
    second.select(&show, &[0]).await.expect(201);
    first.request(&reservation, "WALLET").await.refused(409, "HOLD_OVER");
    assert_eq!(first.reservation(&reservation).await["status"], "EXPIRED");
    first.release(&reservation).await.expect(204);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seat_is_free_at_the_moment_its_hold_ends_swept_or_not() {
    let world = World::with(&[("PODO_SWEEP_EVERY_MS", "3600000")]).await;
    let show = world.show(Plan::default()).await;
    let (first, second) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    let reservation = first.hold(&show, &[0]).await;
    world.clock.advance(Duration::from_secs(300));
    second.select(&show, &[0]).await.expect(201);
    first.request(&reservation, "CARD").await.refused(409, "HOLD_OVER");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_under_payment_is_not_swept() {
    let world = World::with(&[("PODO_HOLD_SECONDS", "10")]).await;
    let show = world.show(Plan::default()).await;
    let (first, second) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    first.charge(crate::support::world::PRICE).await;
    let reservation = first.hold(&show, &[0]).await;
    first.ready(&reservation, "CARD").await;
    world.clock.advance(Duration::from_secs(290));
    second.select(&show, &[0]).await.refused(409, "SEAT_TAKEN");
    let payment = first.ready(&reservation, "WALLET").await;
    first.confirm(&payment).await.expect(200);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_gets_no_more_time_than_the_hold_has() {
    let world = World::with(&[("PODO_HOLD_SECONDS", "10")]).await;
    let show = world.show(Plan::default()).await;
    let (first, second) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    first.charge(crate::support::world::PRICE).await;
    let reservation = first.hold(&show, &[0]).await;
    let payment = first.ready(&reservation, "WALLET").await;
    world.clock.advance(Duration::from_secs(10));
    second.select(&show, &[0]).await.expect(201);
    first.confirm(&payment).await.refused(409, "PAYMENT_OVER");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_owner_gives_seats_back() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let (fan, other) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    let reservation = fan.hold(&show, &[0, 1]).await;
    other.release(&reservation).await.refused(404, "NOT_FOUND");
    let path = format!("/api/booking/reservations/{reservation}");
    other.api.get(&path).await.refused(404, "NOT_FOUND");
    fan.release(&reservation).await.expect(204);
    fan.release(&reservation).await.expect(204);
    assert_eq!(fan.reservation(&reservation).await["status"], "RELEASED");
    other.select(&show, &[0, 1]).await.expect(201);
    fan.release(&reservation).await.expect(204);
    other.select(&show, &[0]).await.refused(409, "SEAT_TAKEN");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_person_has_at_most_four_seats_in_all_their_reservations() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    fan.hold(&show, &[0]).await;
    let three = fan.hold(&show, &[1, 2, 3]).await;
    fan.select(&show, &[4]).await.refused(409, "SEAT_LIMIT");
    world.fan_inside(&show).await.select(&show, &[4]).await.expect(201);
    fan.release(&three).await.expect(204);
    fan.select(&show, &[5, 6, 7, 8]).await.refused(409, "SEAT_LIMIT");
    fan.select(&show, &[5, 6, 7]).await.expect(201);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bought_seat_counts_towards_the_limit() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let mut fan = world.fan_inside(&show).await;
    fan.buy(&show, 0).await;
    fan.go_inside(&show).await;
    fan.select(&show, &[1, 2, 3, 4]).await.refused(409, "SEAT_LIMIT");
    fan.select(&show, &[1, 2, 3]).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pick_that_makes_no_sense_is_refused() {
    let world = World::start().await;
    let (show, other) = (world.show(Plan::default()).await, world.show(Plan::default()).await);
    let fan = world.fan_inside(&show).await;
    fan.select(&show, &[]).await.refused(422, "NO_SEATS");
    fan.select(&show, &[0, 1, 2, 3, 4]).await.refused(422, "TOO_MANY_SEATS");
    fan.select(&show, &[1, 1]).await.refused(422, "SEAT_REPEATED");
    fan.select(&show, &[20]).await.refused(404, "NOT_FOUND");
    fan.select(&show, &[19, 20]).await.refused(404, "NOT_FOUND");
    let body = json!({ "scheduleId": show.schedule, "seatIds": [show.seat(0), other.seat(1)] });
    let answer = fan.api.post_new("/api/booking/seats/select", &body).await;
    answer.refused(422, "FOREIGN_SEAT");
    assert_eq!(show.letter(&world.stranger, 19).await, 'A');
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sold_seat_is_taken_and_everybody_sees_whose_is_whose() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let (buyer, fan) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    buyer.buy(&show, 0).await;
    fan.hold(&show, &[1]).await;
    let taken = fan.select(&show, &[0]).await.refused(409, "SEAT_TAKEN");
    assert_eq!(taken["taken"], json!([show.seat(0)]));
    let third = world.fan().await;
    let path = format!("/api/booking/seats?scheduleId={}", show.schedule);
    for (who, faces) in [
        (&fan, ["SOLD", "HELD_BY_SELF", "AVAILABLE"]),
        (&third, ["SOLD", "HELD_BY_OTHERS", "AVAILABLE"]),
    ] {
        let seats = who.api.get(&path).await.expect(200);
        for (index, face) in faces.into_iter().enumerate() {
            assert_eq!(text(&seats["seats"][index], "status"), face);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sold_before_the_opening() {
    let world = World::start().await;
    let show = world.show(Plan { opens_in: Duration::from_secs(60), ..Plan::default() }).await;
    let mut fan = world.fan().await;
    assert_eq!(fan.enter(&show).await.expect(200)["state"], "LOBBY");
    fan.select(&show, &[0]).await.refused(403, "ENTRY_REQUIRED");
    // Even a fan who was admitted too early by a bug.
    let context = world.context();
    let now = context.now();
    let entry = Entry::starting(1, &QueueSettings::default(), now);
    let admission = vec![Admission { fan: fan.id, entry }];
    let record = context.catalog.schedules.get(&*context.store, show.schedule, now).await.unwrap();
    context
        .waiting_room
        .queue
        .restore(&queue_rules(&record), &admission.clone().into(), now)
        .await
        .unwrap();
    context.store.record_admissions(show.schedule, admission, now).await.unwrap();
    fan.wait_inside(&show).await;
    let problem = fan.select(&show, &[0]).await.refused(409, "SALE_NOT_OPEN");
    assert!(problem["opensAt"].is_string(), "{problem}");
    world.clock.advance(Duration::from_secs(61));
    fan.select(&show, &[0]).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sold_after_the_end() {
    let world = World::start().await;
    for (verb, code) in [("end", "SALE_CLOSED"), ("cancel", "SCHEDULE_CANCELED")] {
        let show = world.show(Plan::default()).await;
        let fan = world.fan_inside(&show).await;
        let path = format!("/api/admin/events/{}/{verb}", show.event);
        world.organiser.post(&path, &json!({})).await.expect(200);
        fan.select(&show, &[0]).await.refused(409, code);
        world.fan().await.enter(&show).await.refused(409, code);
    }
    let show = world.show(Plan { entry_ttl_seconds: 3_600, ..Plan::default() }).await;
    world.clock.advance(Duration::from_secs(29 * 24 * 3_600));
    world.fan().await.enter(&show).await.refused(409, "SALE_CLOSED");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_lets_holds_go_again_and_again_has_to_pause() {
    let world =
        World::with(&[("PODO_LIMITS", "on"), ("PODO_REQUESTS_PER_SECOND_PER_IP", "100000")]).await;
    let show = world.show(Plan::default()).await;
    let (fan, other) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    for _ in 0..5 {
        let reservation = fan.hold(&show, &[0]).await;
        fan.release(&reservation).await.expect(204);
    }
    let pause = fan.select(&show, &[0]).await;
    pause.refused(429, "HOLD_CHURN");
    let seconds: u64 = pause.header("retry-after").parse().unwrap();
    assert!((590..=600).contains(&seconds), "{seconds}");
    other.select(&show, &[0]).await.expect(201);
    world.clock.advance(Duration::from_secs(601));
    let mut fan = fan;
    fan.go_inside(&show).await;
    fan.select(&show, &[1]).await.expect(201);
    world.finish().await;
}

/// A show that withholds canceled seats for ten to fifteen minutes.
async fn show_with_rest(world: &World) -> Show {
    let show = world.show(Plan::default()).await;
    let rest = json!({ "resaleDelay": { "minSeconds": 600, "maxSeconds": 900 } });
    let path = format!("/api/admin/schedules/{}", show.schedule);
    let call = world.organiser.call(reqwest::Method::PATCH, &path).json(&rest);
    crate::support::client::send(call).await.expect(200);
    show
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_seats_that_is_given_back_rests_and_the_other_stays_sold() {
    let world = World::start().await;
    let show = show_with_rest(&world).await;
    let (fan, mut other) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    fan.charge(2 * PRICE).await;
    let reservation = fan.hold(&show, &[0, 1]).await;
    let payment = fan.ready(&reservation, "WALLET").await;
    let body = json!({ "paymentId": payment, "amount": 2 * PRICE });
    fan.api.post_new("/api/payment/confirm", &body).await.expect(200);
    let path = format!("/api/booking/reservations/{reservation}/cancel");
    let body = json!({ "seatIds": [show.seat(1)] });
    fan.api.post_new(&path, &body).await.expect(200);
    show.wait_for_letter(&world.stranger, 1, 'H').await;
    other.select(&show, &[1]).await.refused(409, "SEAT_TAKEN");
    world.clock.advance(Duration::from_secs(901));
    other.go_inside(&show).await;
    show.wait_for_letter(&world.stranger, 1, 'A').await;
    other.select(&show, &[0]).await.refused(409, "SEAT_TAKEN");
    other.select(&show, &[1]).await.expect(201);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_canceled_seat_rests_before_it_is_sold_again() {
    let world = World::start().await;
    let show = show_with_rest(&world).await;
    let (fan, mut other) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    let bought = fan.buy(&show, 0).await;
    fan.cancel(&bought.reservation).await.expect(200);
    show.wait_for_letter(&world.stranger, 0, 'H').await;
    other.select(&show, &[0]).await.refused(409, "SEAT_TAKEN");
    world.clock.advance(Duration::from_secs(599));
    other.go_inside(&show).await;
    other.select(&show, &[0]).await.refused(409, "SEAT_TAKEN");
    world.clock.advance(Duration::from_secs(302));
    other.go_inside(&show).await;
    show.wait_for_letter(&world.stranger, 0, 'A').await;
    other.select(&show, &[0]).await.expect(201);
    world.finish().await;
}
