//! A date is canceled while fans wait, choose and pay: all of them learn it.

use crate::support::client::{send, text};
use crate::support::world::{PRICE, Plan, Show, World, until};
use crate::waiting_room::stream::{Listening, listen};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

async fn call_off(world: &World, show: &Show) {
    let path = format!("/api/admin/schedules/{}/cancel", show.schedule);
    world.organiser.post(&path, &json!({})).await.expect(200);
}

/// Reads until an event matches.
async fn wait_for_event(stream: &mut Listening, is_it: impl Fn(&str, &Value) -> bool) -> Value {
    loop {
        let (name, data) = stream.next().await.expect("the stream goes on");
        if is_it(&name, &data) {
            return data;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fans_in_line_and_inside_hear_that_the_date_is_called_off() {
    let world = World::start().await;
    let show = world.show(Plan { max_active: 1, ..Plan::default() }).await;
    let inside = world.fan_inside(&show).await;
    let waiting = world.fan().await;
    let place = text(&waiting.enter(&show).await.expect(200), "token");
    let queue = format!("/api/queue/stream?scheduleId={}", show.schedule);
    let mut line = listen(&waiting.api, &queue).await;
    let mut room = listen(&inside.api, &queue).await;
    let seats = format!("/api/schedules/{}/seats", show.schedule);
    let mut map = listen(&inside.api, &format!("{seats}/stream")).await;
    let before = world.stranger.get(&seats).await;
    call_off(&world, &show).await;
    for stream in [&mut line, &mut room] {
        let view = wait_for_event(stream, |_, view| view["state"] == "CLOSED").await;
        assert_eq!((&view["canceled"], &view["canEnter"]), (&json!(true), &json!(false)));
        assert!(text(&view, "message").contains("취소"), "{view}");
    }
    let told = wait_for_event(&mut map, |name, _| name == "canceled").await;
    assert_eq!(told["code"], "SCHEDULE_CANCELED");
    let polled = waiting.api.call(Method::GET, &queue.replace("stream", "status"));
    let polled = polled.header("Queue-Token", &place).header("Accept-Language", "en");
    let view = send(polled).await.expect(200);
    assert_eq!((&view["state"], &view["canceled"]), (&json!("CLOSED"), &json!(true)));
    assert!(text(&view, "message").contains("canceled"), "{view}");
    let progress = format!("/api/queue/{}/progress", show.schedule);
    let progress = world.stranger.get(&progress).await.expect(200);
    assert_eq!((&progress["mode"], &progress["canceled"]), (&json!("CLOSED"), &json!(true)));
    assert!(text(&progress, "messageEn").contains("canceled"));
    let tag = before.header("etag").to_owned();
    let after = world.stranger.call(Method::GET, &seats).header("If-None-Match", tag);
    let after = send(after).await;
    assert_eq!(after.header("schedule-status"), "CANCELLED");
    assert_eq!(after.expect(200)["canceled"], true, "not what the tag stood for");
    let mut late = listen(&inside.api, &format!("{seats}/stream")).await;
    wait_for_event(&mut late, |name, _| name == "canceled").await;
    world.fan().await.enter(&show).await.refused(409, "SCHEDULE_CANCELED");
}

#[tokio::test(flavor = "multi_thread")]
async fn held_seats_of_a_canceled_date_cannot_be_paid_for() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    fan.charge(PRICE).await;
    let reservation = fan.hold(&show, &[0]).await;
    let payment = fan.ready(&reservation, "WALLET").await;
    call_off(&world, &show).await;
    let body = json!({ "paymentId": payment, "amount": PRICE });
    for (language, word) in [("ko", "취소"), ("en", "canceled")] {
        let confirm = fan.api.call(Method::POST, "/api/payment/confirm").json(&body);
        let confirm = confirm.header("Idempotency-Key", language);
        let answer = send(confirm.header("Accept-Language", language)).await;
        let problem = answer.refused(409, "SCHEDULE_CANCELED");
        assert!(text(&problem, "detail").contains(word), "{problem}");
    }
    fan.request(&reservation, "CARD").await.refused(409, "SCHEDULE_CANCELED");
    fan.select(&show, &[1]).await.refused(409, "SCHEDULE_CANCELED");
    assert_eq!(fan.balance().await, PRICE);
    fan.release(&reservation).await.expect(204);
    world.finish().await;
}

/// The bank charges the card, and its response is lost: the outcome is unknown when the event is
/// canceled.
#[tokio::test(flavor = "multi_thread")]
async fn a_card_that_was_being_charged_when_the_event_was_called_off_gets_its_money_back() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let reservation = fan.hold(&show, &[0]).await;
    let ready = fan.request(&reservation, "CARD").await.expect(201);
    let path = format!("/api/payment/sandbox/{}", text(&ready, "orderId"));
    let chosen = fan.api.post(&path, &json!({ "choice": "LATE" })).await.expect(200);
    let body = json!({ "paymentId": ready["paymentId"], "amount": PRICE,
        "paymentKey": chosen["paymentKey"] });
    fan.api.post_once("/api/payment/confirm", "once", &body).await.expect(202);
    let path = format!("/api/admin/events/{}/cancel", show.event);
    world.organiser.post(&path, &json!({})).await.expect(200);
    let path = format!("/api/schedules/{}", show.schedule);
    assert_eq!(world.stranger.get(&path).await.expect(200)["status"], "CANCELLED");
    world.clock.advance(Duration::from_secs(70));
    let payment = text(&ready, "paymentId");
    until("the money went back", async || {
        (fan.payment(&payment).await["status"] == "REFUNDED").then_some(())
    })
    .await;
    assert_eq!(fan.payment(&payment).await["refunded"], PRICE);
    assert_eq!(fan.reservation(&reservation).await["status"], "CANCELED");
    let again = fan.api.post_once("/api/payment/confirm", "once", &body).await;
    again.refused(409, "SCHEDULE_CANCELED");
    let path = format!("/api/admin/schedules/{}/refunds", show.schedule);
    until("the run of the date is over", async || {
        let answer = world.organiser.get(&path).await;
        (answer.status == 404 || answer.expect(200)["isDone"] == true).then_some(())
    })
    .await;
    world.finish().await;
}
