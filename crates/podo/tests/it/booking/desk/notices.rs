//! The customer of the desk has no account: nothing about an issued order is sent to the organiser
//! who issued it.

use crate::support::client::{Api, send, text};
use crate::support::fan::Fan;
use crate::support::world::{Plan, Show, World, until};
use podo_domain::SeatId;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3_600);

async fn issue(api: &Api, show: &Show, what: &str, seats: &[u32]) -> Value {
    let ids: Vec<SeatId> = seats.iter().map(|it| show.seat(*it)).collect();
    let body = match what {
        "complimentary" => json!({ "seatIds": ids, "name": "초대 손님" }),
        _ => {
            let seats: Vec<Value> = ids.iter().map(|it| json!({ "seatId": it })).collect();
            json!({ "seats": seats, "tender": "CASH", "name": "김포도" })
        }
    };
    let path = format!("/api/admin/schedules/{}/{what}", show.schedule);
    api.post_new(&path, &body).await.expect(201)
}

async fn reseat(world: &World, show: &Show, booking: &str, (from, to): (u32, u32)) {
    let moves = json!([{ "from": show.seat(from), "to": show.seat(to) }]);
    let body = json!({ "moves": moves, "reason": "카메라 자리" });
    let path = format!("/api/admin/reservations/{booking}/reseat");
    world.organiser.post_new(&path, &body).await.expect(200);
}

async fn refund(world: &World, payment: &str, seats: &[SeatId]) {
    let path = format!("/api/admin/payments/{payment}/refund");
    let mut body = json!({ "reason": "고객 요청" });
    if !seats.is_empty() {
        body["seatIds"] = json!(seats);
    }
    world.organiser.post_new(&path, &body).await.expect(200);
}

/// The show begins in 20 hours: fans learn the new date and are reminded of the show.
async fn move_to_tomorrow(world: &World, show: &Show) {
    let starts_at = world.context().now().plus(20 * HOUR);
    let ends_at = starts_at.plus(2 * HOUR);
    let body = json!({ "startsAt": starts_at, "endsAt": ends_at,
        "saleEndsAt": starts_at.minus(HOUR) });
    let path = format!("/api/admin/schedules/{}", show.schedule);
    send(world.organiser.call(Method::PATCH, &path).json(&body)).await.expect(200);
}

async fn mailbox(world: &World) -> Vec<Value> {
    let mailbox = world.organiser.get("/api/admin/mailbox?limit=100").await.expect(200);
    // Every account is welcomed.
    let is_welcome = |it: &Value| it["subject"] == "Podo에 오신 것을 환영해요";
    mailbox["items"].as_array().unwrap().iter().filter(|it| !is_welcome(it)).cloned().collect()
}

/// Waits until the fan got as many notifications with this subject.
async fn notified(world: &World, fan: &Fan, subject: &str, n_expected: usize) {
    until(subject, async || {
        let mailbox = mailbox(world).await;
        let is_it =
            |it: &&Value| text(it, "subject").contains(subject) && it["userId"] == json!(fan.id);
        (mailbox.iter().filter(is_it).count() == n_expected).then_some(())
    })
    .await;
}

/// A fan's booking goes through the same steps after the orders of the desk, so its notifications
/// show that the worker has seen the messages about those.
#[tokio::test(flavor = "multi_thread")]
async fn an_organiser_gets_no_notification_about_an_order_of_the_desk() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let sold = issue(&world.organiser, &show, "box-office", &[0, 1, 2]).await;
    let given = issue(&world.organiser, &show, "complimentary", &[3]).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 10).await;
    let (order, payment) = (text(&sold, "reservationId"), text(&sold, "paymentId"));
    reseat(&world, &show, &order, (0, 5)).await;
    reseat(&world, &show, &bought.reservation, (10, 11)).await;
    notified(&world, &fan, "좌석이 바뀌었어요", 1).await;

    refund(&world, &payment, &[show.seat(1)]).await;
    move_to_tomorrow(&world, &show).await;
    notified(&world, &fan, "공연 일정이", 1).await;
    notified(&world, &fan, "내일 공연이에요", 1).await;
    let changes = world.organiser.get("/api/booking/changes").await.expect(200);
    assert_eq!(changes["items"], json!([]), "the desk has nothing to accept");

    refund(&world, &payment, &[]).await;
    refund(&world, &text(&given, "paymentId"), &[]).await;
    let called_off = issue(&world.organiser, &show, "box-office", &[6]).await;
    let path = format!("/api/admin/schedules/{}/cancel", show.schedule);
    world.organiser.post(&path, &json!({})).await.expect(200);
    notified(&world, &fan, "공연이 취소", 1).await;
    notified(&world, &fan, "환불", 1).await;
    let orders = format!("/api/admin/schedules/{}/issued-orders", show.schedule);
    until("the desk's order ends", async || {
        let seen = world.organiser.get(&orders).await.expect(200);
        assert_eq!(seen["items"][0]["reservationId"], called_off["reservationId"]);
        (seen["items"][0]["status"] == "CANCELED").then_some(())
    })
    .await;
    let strange: Vec<Value> =
        mailbox(&world).await.into_iter().filter(|it| it["userId"] != json!(fan.id)).collect();
    assert_eq!(strange, Vec::<Value>::new());
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirmation_of_the_desk_is_not_sent_again_but_its_ticket_can_be_given_to_a_fan() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let given = issue(&world.organiser, &show, "complimentary", &[3]).await;
    let path = format!("/api/admin/support/bookings/{}/resend", text(&given, "reservationId"));
    world.organiser.post(&path, &json!({})).await.refused(409, "DESK_ORDER");

    let guest = world.fan_at("guest@podo.example").await;
    let ticket = text(&given["tickets"][0], "id");
    let offer = json!({ "email": "guest@podo.example" });
    let path = format!("/api/tickets/{ticket}/transfer");
    world.organiser.post_new(&path, &offer).await.expect(202);
    notified(&world, &guest, "티켓이 도착했어요", 1).await;
    let accept = format!("/api/tickets/{ticket}/accept");
    guest.api.post_new(&accept, &json!({})).await.expect(200);
    notified(&world, &guest, "이제 내 티켓이에요", 1).await;
    move_to_tomorrow(&world, &show).await;
    notified(&world, &guest, "내일 공연이에요", 1).await;
    let others = mailbox(&world).await.into_iter().filter(|it| it["userId"] != json!(guest.id));
    assert_eq!(others.count(), 0);
    world.finish().await;
}
