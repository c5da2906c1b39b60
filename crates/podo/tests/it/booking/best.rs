//! The best free seats, and alternatives after a lost race.

use crate::support::client::{Answer, text};
use crate::support::world::{Plan, Show, World, until};
use futures::future::join_all;
use podo_domain::{SeatId, Timestamp};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// Two rows of ten, a wheelchair platform, and five fans.
async fn show(world: &World) -> Show {
    show_opening(world, Duration::ZERO).await
}

async fn show_opening(world: &World, opens_in: Duration) -> Show {
    let line = |y: i32| json!({ "x": 0, "y": y, "dx": 10, "dy": 0 });
    let template = json!({ "layoutType": "sections",
        "stage": { "x": 20, "y": -40, "width": 50, "height": 20 },
        "sections": [
            { "name": "1", "grade": "R", "rows": [
                { "label": "1", "count": 10, "line": line(0) },
                { "label": "2", "count": 10, "line": line(10) }] },
            { "name": "W", "grade": "R", "rows": [
                { "label": "1", "count": 4, "line": line(50), "accessible": [2], "companion": [1, 3] }] },
            { "name": "F", "grade": "ST",
              "standing": { "count": 5, "x": 0, "y": 60, "width": 100, "height": 40 } }] });
    let plan = Plan { opens_in, ..Plan::default() };
    world.show_in(template, json!({ "R": 50_000, "ST": 50_000 }), plan).await
}

#[track_caller]
fn numbers(answer: &Answer) -> Vec<String> {
    let held = answer.expect(201);
    let seats = held["seats"].as_array().unwrap();
    seats.iter().map(|seat| seat["number"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_party_gets_the_best_seats_together() {
    let world = World::start().await;
    let show = show(&world).await;
    let fan = world.fan_inside(&show).await;
    let first = fan.best(&show, json!({ "count": 4 })).await;
    assert_eq!(numbers(&first), ["1-1-4", "1-1-5", "1-1-6", "1-1-7"]);
    let crowd = world.fan_inside(&show).await;
    assert_eq!(
        numbers(&crowd.best(&show, json!({ "count": 2, "grade": "ST" })).await),
        ["F-1", "F-2"]
    );
    let chair = world.fan_inside(&show).await;
    let wish = json!({ "count": 2, "wheelchairs": 1 });
    assert_eq!(numbers(&chair.best(&show, wish).await), ["W-1-1", "W-1-2"]);
    world.finish().await;
}

/// The number of a standing place is the order of entry, so it follows the order of purchase.
#[tokio::test(flavor = "multi_thread")]
async fn a_standing_zone_gives_its_lowest_free_numbers() {
    let world = World::start().await;
    let show = show(&world).await;
    let mut fans = world.fans(5).await;
    join_all(fans.iter_mut().map(|fan| fan.go_inside(&show))).await;
    let wish = |count: usize| json!({ "count": count, "section": "F" });
    assert_eq!(numbers(&fans[0].best(&show, wish(2)).await), ["F-1", "F-2"]);
    let answers = join_all(fans[1..4].iter().map(|fan| fan.best(&show, wish(1)))).await;
    let mut rest: Vec<String> = answers.iter().flat_map(numbers).collect();
    rest.sort_unstable();
    assert_eq!(rest, ["F-3", "F-4", "F-5"]);
    for place in 24..29 {
        show.wait_for_letter(&world.stranger, place, 'H').await;
    }
    fans[4].best(&show, wish(1)).await.refused(409, "NO_SEATS_TOGETHER");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_layout_has_the_area_of_a_standing_zone() {
    let world = World::start().await;
    let show = show(&world).await;
    let layout = world.stranger.get(&format!("/api/schedules/{}/layout", show.schedule)).await;
    let layout = layout.expect(200);
    let sections = layout["sections"].as_array().unwrap();
    let zones: Vec<&Value> = sections.iter().map(|section| &section["zone"]).collect();
    let area = json!({ "count": 5, "x": 0, "y": 60, "width": 100, "height": 40 });
    assert_eq!(zones, [&Value::Null, &Value::Null, &area]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wish_that_cannot_be_met_says_why() {
    let world = World::start().await;
    let show = show(&world).await;
    let fan = world.fan_inside(&show).await;
    let refused = async |wish: Value, status, code| {
        fan.best(&show, wish).await.refused(status, code);
    };
    refused(json!({ "count": 0 }), 422, "NO_SEATS").await;
    refused(json!({ "count": 5 }), 422, "TOO_MANY_SEATS").await;
    refused(json!({ "count": 1, "grade": "VIP" }), 422, "UNKNOWN_GRADE").await;
    refused(json!({ "count": 1, "section": "2" }), 422, "UNKNOWN_SECTION").await;
    refused(json!({ "count": 3, "wheelchairs": 2 }), 409, "NO_SEATS_TOGETHER").await;
    let body = json!({ "scheduleId": show.schedule, "count": 1 });
    let outside = fan.api.without_entry();
    let answer = outside.post_new("/api/booking/seats/best", &body).await;
    answer.refused(403, "ENTRY_REQUIRED");
    assert_eq!(numbers(&fan.best(&show, json!({ "count": 1 })).await).len(), 1);
    let over = fan.best(&show, json!({ "count": 4 })).await.refused(409, "SEAT_LIMIT");
    assert_eq!(over["max"], json!(4));
}

#[tokio::test(flavor = "multi_thread")]
async fn proposals_hold_nothing_and_can_be_held() {
    let world = World::start().await;
    let show = show(&world).await;
    let fan = world.fan_inside(&show).await;
    let path =
        |wish: &str| format!("/api/booking/seats/suggestions?scheduleId={}&{wish}", show.schedule);
    let proposed = fan.api.get(&path("count=2")).await.expect(200);
    let items = proposed["items"].as_array().unwrap();
    assert!((1..=3).contains(&items.len()), "{proposed}");
    assert_eq!(world.organiser.get(&live(&show)).await.expect(200)["held"], json!(0));
    let seats: Vec<SeatId> = serde_json::from_value(items[0]["seatIds"].clone()).unwrap();
    assert_eq!(seats.len(), 2);
    let body = json!({ "scheduleId": show.schedule, "seatIds": seats });
    fan.api.post_new("/api/booking/seats/select", &body).await.expect(201);
    // What another fan holds is proposed to no one.
    let other = world.fan_inside(&show).await;
    until("held seats are proposed no more", async || {
        let now = other.api.get(&path("count=2")).await.expect(200).to_string();
        seats.iter().all(|seat| !now.contains(&seat.to_string())).then_some(())
    })
    .await;
    for (wish, code) in [
        ("count=0", "NO_SEATS"),
        ("count=11", "TOO_MANY_SEATS"),
        ("count=1&grade=X", "UNKNOWN_GRADE"),
        ("count=1&section=X", "UNKNOWN_SECTION"),
    ] {
        fan.api.get(&path(wish)).await.refused(422, code);
    }
    fan.api.without_entry().get(&path("count=1")).await.refused(403, "ENTRY_REQUIRED");
    world.stranger.get(&path("count=1")).await.expect(401);
    world.finish().await;
}

fn live(show: &Show) -> String {
    format!("/api/admin/schedules/{}/live", show.schedule)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_wish_gets_its_first_answer() {
    let world = World::start().await;
    let show = show(&world).await;
    let fan = world.fan_inside(&show).await;
    let body = json!({ "scheduleId": show.schedule, "count": 3 });
    let first = fan.api.post_once("/api/booking/seats/best", "same", &body).await;
    let again = fan.api.post_once("/api/booking/seats/best", "same", &body).await;
    assert_eq!(
        (first.expect(201), again.header("idempotency-replayed")),
        (again.expect(201), "true")
    );
    let other = json!({ "scheduleId": show.schedule, "count": 2 });
    let answer = fan.api.post_once("/api/booking/seats/best", "same", &other).await;
    answer.refused(422, "IDEMPOTENCY_KEY_REUSED");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_who_wish_for_the_best_get_different_seats() {
    let world = World::start().await;
    let show = show(&world).await;
    let mut fans = world.fans(10).await;
    join_all(fans.iter_mut().map(|fan| fan.go_inside(&show))).await;
    let wish = || json!({ "count": 2, "grade": "R" });
    let answers = join_all(fans.iter().map(|fan| fan.best(&show, wish()))).await;
    let seats: Vec<String> = answers.iter().flat_map(numbers).collect();
    assert_eq!(seats.len(), 20);
    assert_eq!(seats.iter().collect::<BTreeSet<_>>().len(), 20, "{seats:?}");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fan_who_loses_a_seat_is_offered_seats_nearby() {
    let world = World::start().await;
    let show = show(&world).await;
    let (first, second) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    first.hold(&show, &[4, 5]).await;
    show.wait_for_letter(&world.stranger, 4, 'H').await;
    let problem = second.select(&show, &[5, 6]).await.refused(409, "SEAT_TAKEN");
    assert_eq!(problem["taken"], json!([show.seat(5)]));
    let offered: Vec<Vec<SeatId>> =
        serde_json::from_value(problem["alternatives"].clone()).unwrap();
    assert_eq!(offered.len(), 3);
    let seats = &offered[0];
    let body = json!({ "scheduleId": show.schedule, "seatIds": seats });
    second.api.post_new("/api/booking/seats/select", &body).await.expect(201);
}

/// Section 1 is sold in the phase; the wheelchair platform, of the same grade, isn't.
#[tokio::test(flavor = "multi_thread")]
async fn a_phase_offers_and_counts_only_the_seats_that_it_sells() {
    const MINUTE: Duration = Duration::from_secs(60);
    let world = World::start().await;
    let show = show_opening(&world, MINUTE).await;
    let view = world.stranger.get(&format!("/api/schedules/{}", show.schedule)).await.expect(200);
    let opens_at: Timestamp = serde_json::from_value(view["saleStartsAt"].clone()).unwrap();
    let phases = json!({ "phases": [{ "name": "선예매", "nameEn": "Presale", "startsAt": opens_at,
        "endsAt": opens_at.plus(MINUTE * 10), "audience": "EVERYBODY", "seatsPerPerson": 4,
        "sections": ["W"] }] });
    let path = format!("/api/admin/schedules/{}/phases", show.schedule);
    let made = world.organiser.put(&path, &phases).await.expect(200);
    world.clock.advance(MINUTE);
    let (first, second) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    let phase = text(&made["items"][0], "id");
    until("only the seats of the phase are counted", async || {
        let progress =
            world.stranger.get(&format!("/api/queue/{phase}/progress")).await.expect(200);
        (progress["seatsLeft"] == 4).then_some(())
    })
    .await;
    first.hold(&show, &[20]).await;
    show.wait_for_letter(&world.stranger, 20, 'H').await;
    let problem = second.select(&show, &[20]).await.refused(409, "SEAT_TAKEN");
    let offered: Vec<Vec<SeatId>> =
        serde_json::from_value(problem["alternatives"].clone()).unwrap();
    assert!(!offered.is_empty());
    for seat in offered.iter().flatten() {
        assert!((20..24).contains(&seat.index()), "seat {seat} isn't of the phase");
    }
    world.finish().await;
}
