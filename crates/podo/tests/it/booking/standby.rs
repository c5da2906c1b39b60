//! The standby list of a sold-out date.

use crate::support::fan::Fan;
use crate::support::world::{PRICE, Plan, Show, World, until};
use serde_json::{Value, json};
use std::time::Duration;

pub(crate) async fn sold_out(world: &World) -> (Show, Fan, String) {
    let show = world.show(Plan { n_seats: 2, ..Plan::default() }).await;
    let mut owner = world.fan_inside(&show).await;
    let first = owner.buy(&show, 0).await;
    owner.go_inside(&show).await;
    owner.buy(&show, 1).await;
    show.wait_for_letter(&world.stranger, 1, 'S').await;
    (show, owner, first.reservation)
}

pub(crate) async fn stand_by(fan: &Fan, show: &Show, count: u32) -> Value {
    let body = json!({ "scheduleId": show.schedule, "grade": "VIP", "count": count });
    fan.api.post("/api/booking/standby", &body).await.expect(200)
}

async fn place(fan: &Fan, show: &Show) -> Value {
    let path = format!("/api/booking/standby?scheduleId={}", show.schedule);
    fan.api.get(&path).await.expect(200)
}

pub(crate) async fn wait_for(fan: &Fan, show: &Show, state: &str) -> Value {
    let what = format!("the standby is {state}");
    until(&what, async || {
        let place = place(fan, show).await;
        (place["state"] == state).then_some(place)
    })
    .await
}

fn is_about_one_seat(notification: &Value) -> bool {
    notification["body"].as_str().unwrap().contains("좌석 1석")
}

#[tokio::test(flavor = "multi_thread")]
async fn seats_that_come_back_go_to_those_who_came_first() {
    let world = World::start().await;
    let (show, owner, reservation) = sold_out(&world).await;
    let fans = world.fans(2).await;
    assert_eq!(stand_by(&fans[0], &show, 1).await["ahead"], 0);
    assert_eq!(stand_by(&fans[1], &show, 1).await["ahead"], 1);
    assert_eq!(stand_by(&fans[1], &show, 1).await["ahead"], 1, "joining again finds the place");
    let passer_by = world.fan_inside(&show).await;
    owner.cancel(&reservation).await.expect(200);
    passer_by.select(&show, &[0]).await.refused(409, "SEAT_TAKEN");
    let offered = wait_for(&fans[0], &show, "OFFERED").await;
    let offer = &offered["offer"];
    assert_eq!((&offer["status"], &offer["seats"][0]["number"]), (&json!("HELD"), &json!("A-1")));
    assert_eq!(place(&fans[1], &show).await["state"], "WAITING");
    until("a notification", async || {
        let mailbox = fans[0].api.get("/api/users/me/mailbox").await.expect(200);
        mailbox["items"].as_array().unwrap().iter().any(is_about_one_seat).then_some(())
    })
    .await;

    let fan = &fans[0];
    fan.charge(PRICE).await;
    let payment = fan.ready(offer["id"].as_str().unwrap(), "WALLET").await;
    fan.confirm(&payment).await.expect(200);
    wait_for(fan, &show, "TAKEN").await;
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offer_that_is_not_taken_goes_to_the_next() {
    let world = World::with(&[("PODO_OFFER_SECONDS", "60")]).await;
    let (show, owner, reservation) = sold_out(&world).await;
    let fans = world.fans(2).await;
    stand_by(&fans[0], &show, 1).await;
    stand_by(&fans[1], &show, 1).await;
    owner.cancel(&reservation).await.expect(200);
    wait_for(&fans[0], &show, "OFFERED").await;
    let path = format!("/api/booking/standby?scheduleId={}", show.schedule);
    fans[0].api.delete(&path).await.refused(409, "STANDBY_OFFERED");
    world.clock.advance(Duration::from_secs(61));
    wait_for(&fans[0], &show, "LAPSED").await;
    wait_for(&fans[1], &show, "OFFERED").await;
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_gives_up_waiting_is_passed_over() {
    let world = World::start().await;
    let (show, owner, reservation) = sold_out(&world).await;
    let fans = world.fans(3).await;
    stand_by(&fans[0], &show, 2).await;
    stand_by(&fans[1], &show, 1).await;
    stand_by(&fans[2], &show, 1).await;
    let path = format!("/api/booking/standby?scheduleId={}", show.schedule);
    fans[1].api.delete(&path).await.expect(204);
    owner.cancel(&reservation).await.expect(200);
    wait_for(&fans[2], &show, "OFFERED").await;
    assert_eq!(place(&fans[0], &show).await["state"], "WAITING", "one seat is not two");
    assert_eq!(place(&fans[1], &show).await["state"], "LEFT");
    world.finish().await;
}

/// The seat map may lag by a tenth of a second: a fan who saw the last seat go is not refused.
#[tokio::test(flavor = "multi_thread")]
async fn a_fan_can_stand_by_right_after_the_last_sale() {
    let world = World::start().await;
    for _ in 0..5 {
        let show = world.show(Plan { n_seats: 1, ..Plan::default() }).await;
        let owner = world.fan_inside(&show).await;
        let fan = world.fan().await;
        show.wait_for_letter(&world.stranger, 0, 'A').await;
        owner.buy(&show, 0).await;
        stand_by(&fan, &show, 1).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn while_seats_are_available_the_standby_list_refuses_entries() {
    let world = World::start().await;
    let show = world.show(Plan { n_seats: 2, ..Plan::default() }).await;
    let fan = world.fan().await;
    let ask = async |grade: &str, count: u32| {
        let body = json!({ "scheduleId": show.schedule, "grade": grade, "count": count });
        fan.api.post("/api/booking/standby", &body).await
    };
    ask("VIP", 2).await.refused(409, "SEATS_LEFT");
    ask("S", 1).await.refused(422, "UNKNOWN_GRADE");
    ask("VIP", 0).await.refused(422, "NO_SEATS");
    ask("VIP", 5).await.refused(422, "TOO_MANY_SEATS");
    ask("VIP", 3).await.expect(200);
    let path = format!("/api/booking/standby?scheduleId={}", show.schedule);
    world.fan().await.api.get(&path).await.refused(404, "NOT_FOUND");
}
