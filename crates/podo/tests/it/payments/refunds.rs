//! Refunds over HTTP: some seats, by policy, by an organiser, for a whole date.

use crate::support::client::text;
use crate::support::world::{MONTH, PRICE, Plan, World, until};
use futures::future::join_all;
use serde_json::json;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn a_fan_sees_the_fee_before_giving_one_of_two_seats_back() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let policy = json!({ "steps": [{ "daysBefore": 60, "feePercent": 10 },
                                   { "daysBefore": 1, "feePercent": 30 }] });
    let path = format!("/api/admin/events/{}/refund-policy", show.event);
    world.organiser.put(&path, &policy).await.expect(200);
    assert_eq!(world.organiser.get(&path).await.expect(200), policy);
    let public = format!("/api/events/{}", show.event);
    assert_eq!(world.stranger.get(&public).await.expect(200)["refundRules"], policy);
    let fan = world.fan_inside(&show).await;
    fan.charge(2 * PRICE).await;
    let reservation = fan.hold(&show, &[0, 1]).await;
    let payment = fan.ready(&reservation, "WALLET").await;
    let body = json!({ "paymentId": payment, "amount": 2 * PRICE });
    fan.api.post_new("/api/payment/confirm", &body).await.expect(200);
    let path = format!("/api/booking/reservations/{reservation}/refund");
    let seat = show.seat(1);
    let preview = fan.api.get(&format!("{path}?seatIds={seat}")).await.expect(200);
    assert_eq!(preview["fee"], PRICE / 10);
    assert_eq!(preview["refundAmount"], PRICE - PRICE / 10);
    world.fan().await.api.get(&path).await.refused(404, "NOT_FOUND");
    let path = format!("/api/booking/reservations/{reservation}/cancel");
    let body = json!({ "seatIds": [seat] });
    let canceled = fan.api.post_new(&path, &body).await.expect(200);
    assert_eq!(canceled["reservationStatus"], "CONFIRMED");
    assert_eq!(canceled["status"], "PARTIALLY_REFUNDED");
    assert_eq!(canceled["refundAmount"], preview["refundAmount"]);
    assert_eq!(fan.balance().await, PRICE - PRICE / 10);
    assert_eq!(fan.reservation(&reservation).await["seats"].as_array().unwrap().len(), 1);
    show.wait_for_letter(&world.stranger, 0, 'S').await;
    show.wait_for_letter(&world.stranger, 1, 'A').await;
    fan.api.post_new(&path, &body).await.refused(422, "FOREIGN_SEAT");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_odd_policy_is_refused_and_only_organisers_set_one() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let path = format!("/api/admin/events/{}/refund-policy", show.event);
    let odd = json!({ "steps": [{ "daysBefore": 1, "feePercent": 91 }] });
    let refused = world.organiser.put(&path, &odd).await.refused(422, "INVALID_POLICY");
    assert_eq!(refused["errors"][0]["field"], "steps[0].feePercent");
    let odd = json!({ "steps": [], "grace": { "unit": "HOURS", "length": 0, "daysBefore": 3 } });
    let refused = world.organiser.put(&path, &odd).await.refused(422, "INVALID_POLICY");
    assert_eq!(refused["errors"][0]["field"], "grace.length");
    let fan = world.fan().await;
    fan.api.put(&path, &json!({ "steps": [] })).await.refused(403, "ADMIN_ONLY");
}

/// The policy of the large sellers: a week of grace, then a fixed fee with a limit.
#[tokio::test(flavor = "multi_thread")]
async fn a_fixed_fee_follows_the_grace_after_booking() {
    let world = World::start().await;
    let show = world.show(Plan { starts_in: 2 * MONTH, ..Plan::default() }).await;
    let policy = json!({
        "steps": [{ "daysBefore": 730, "feePercent": 10, "feeAmount": 4_000 },
                  { "daysBefore": 0, "feePercent": 90 }],
        "grace": { "unit": "DAYS", "length": 7, "daysBefore": 10, "refundsFees": false },
    });
    let path = format!("/api/admin/events/{}/refund-policy", show.event);
    world.organiser.put(&path, &policy).await.expect(200);
    let event = world.stranger.get(&format!("/api/events/{}", show.event)).await.expect(200);
    assert_eq!(event["refundRules"], policy);
    let dates = &event["refundDates"][0];
    assert_eq!(dates["scheduleId"], show.schedule.to_string());
    assert_eq!(dates["periods"][0]["feeAmount"], 4_000);
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    let path = format!("/api/booking/reservations/{}/refund", bought.reservation);
    let preview = fan.api.get(&path).await.expect(200);
    assert_eq!((&preview["fee"], &preview["feeAmount"]), (&json!(0), &json!(null)));
    world.clock.advance(Duration::from_secs(9 * 24 * 3_600));
    let fan = world.again(&fan);
    let preview = fan.api.get(&path).await.expect(200);
    assert_eq!((&preview["fee"], &preview["feePercent"]), (&json!(4_000), &json!(10)));
    assert_eq!(preview["refundAmount"], PRICE - 4_000);
    assert_eq!(preview["periods"], dates["periods"]);
    let path = format!("/api/booking/reservations/{}/cancel", bought.reservation);
    let canceled = fan.api.post_new(&path, &json!({})).await.expect(200);
    assert_eq!(
        (&canceled["fee"], &canceled["refundAmount"]),
        (&json!(4_000), &json!(PRICE - 4_000))
    );
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_organiser_refunds_once_however_often_the_call_comes() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    let path = format!("/api/admin/payments/{}/refund", bought.payment);
    let body = json!({ "reason": "무대가 안 보여요" });
    fan.api.post_new(&path, &body).await.refused(403, "ADMIN_ONLY");
    let first = world.organiser.post_once(&path, "once", &body).await;
    assert_eq!(first.expect(200)["status"], "REFUNDED");
    let again = world.organiser.post_once(&path, "once", &body).await;
    assert_eq!(again.text, first.text);
    world.organiser.post_new(&path, &body).await.refused(409, "ALREADY_CANCELED");
    assert_eq!(fan.balance().await, PRICE);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_refunds_with_one_key_give_the_money_back_once() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    let path = format!("/api/admin/payments/{}/refund", bought.payment);
    let body = json!({ "reason": "비가 와요" });
    let ask = || world.organiser.post_once(&path, "fifty", &body);
    let answers = join_all((0..50).map(|_| ask())).await;
    for answer in &answers {
        answer.expect(200);
        assert_eq!(answer.text, answers[0].text);
    }
    assert_eq!(fan.balance().await, PRICE);
    let other = json!({ "reason": "눈이 와요" });
    let answer = world.organiser.post_once(&path, "fifty", &other).await;
    answer.refused(422, "IDEMPOTENCY_KEY_REUSED");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_canceled_event_gives_everybody_their_money_back() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fans = [world.fan_inside(&show).await, world.fan_inside(&show).await];
    for (fan, seat) in fans.iter().zip(0..) {
        fan.buy(&show, seat).await;
    }
    let path = format!("/api/admin/events/{}/cancel", show.event);
    world.organiser.post(&path, &json!({})).await.expect(200);
    let path = format!("/api/admin/schedules/{}/refunds", show.schedule);
    let run = until("the refunds are made", async || {
        let answer = world.organiser.get(&path).await;
        (answer.status == 200).then(|| answer.expect(200)).filter(|run| run["isDone"] == true)
    })
    .await;
    assert_eq!((&run["refunded"], &run["amount"]), (&json!(2), &json!(2 * PRICE)));
    for fan in &fans {
        assert_eq!(fan.balance().await, PRICE);
        let tickets = fan.api.get("/api/tickets").await.expect(200);
        assert_eq!(text(&tickets["items"][0], "status"), "VOID");
    }
    world.finish().await;
}
