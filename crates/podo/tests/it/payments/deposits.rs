//! Virtual accounts over HTTP: exact, partial, too much, twice, late, expired and given up.

use crate::payments::gateways::bank::offer;
use crate::support::client::{Answer, new_key, send, text};
use crate::support::fan::Fan;
use crate::support::world::{PRICE, Plan, Show, World, until};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 3_600);

/// A virtual account that the sandbox issued.
struct Issued {
    fan: Fan,
    reservation: String,
    payment: String,
    order: String,
    deposit: Value,
}

async fn show(world: &World) -> Show {
    let show = world.show(Plan::default()).await;
    offer(world, &show, &["CARD", "VIRTUAL_ACCOUNT"]).await.expect(200);
    show
}

async fn issue(world: &World, show: &Show, seat: u32) -> Issued {
    let fan = world.fan_inside(show).await;
    let reservation = fan.hold(show, &[seat]).await;
    let ready = fan.request(&reservation, "VIRTUAL_ACCOUNT").await.expect(201);
    let (payment, order) = (text(&ready, "paymentId"), text(&ready, "orderId"));
    let path = format!("/api/payment/sandbox/{order}");
    let chosen = fan.api.post(&path, &json!({ "choice": "APPROVE" })).await.expect(200);
    let body = json!({
        "paymentId": payment, "amount": PRICE, "paymentKey": text(&chosen, "paymentKey"),
    });
    let key = new_key();
    let answer = fan.api.post_once("/api/payment/confirm", &key, &body).await;
    let issued = answer.expect(202);
    assert_eq!(issued["status"], "AWAITING_DEPOSIT", "{issued}");
    let again = fan.api.post_once("/api/payment/confirm", &key, &body).await.expect(202);
    assert_eq!(issued, again, "a repeat gives the same account");
    Issued { fan, reservation, payment, order, deposit: issued["deposit"].clone() }
}

impl Issued {
    async fn deposit(&self, amount: i64) -> Answer {
        let path = format!("/api/payment/sandbox/{}/deposit", self.order);
        self.fan.api.post(&path, &json!({ "amount": amount })).await
    }

    async fn status(&self) -> (String, String) {
        let payment = self.fan.payment(&self.payment).await;
        let reservation = self.fan.reservation(&self.reservation).await;
        (text(&payment, "status"), text(&reservation, "status"))
    }

    async fn wait_for(&self, payment: &str, reservation: &str) {
        let expected = (payment.to_owned(), reservation.to_owned());
        let what = format!("the payment is {payment} and the reservation {reservation}");
        until(&what, async || (self.status().await == expected).then_some(())).await;
    }

    async fn give_account(&self) {
        let path = format!("/api/payment/{}/refund-account", self.payment);
        let known = self.fan.api.get(&path).await.expect(200);
        assert_eq!(known["isNeeded"], true, "{known}");
        let wrong = json!({ "bank": "SHINHAN", "number": "12-34", "holder": "김포도" });
        let problem = self.fan.api.put(&path, &wrong).await.expect(422);
        assert_eq!(problem["errors"][0]["field"], "number", "{problem}");
        let account = json!({ "bank": "KAKAO", "number": "3333-01-1234567", "holder": "김포도" });
        self.fan.api.put(&path, &account).await.expect(204);
        let known = self.fan.api.get(&path).await.expect(200);
        assert_eq!(known["account"]["lastDigits"], "4567", "{known}");
        assert_eq!(known["isNeeded"], false, "{known}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_exact_deposit_buys_the_seat_long_after_the_hold() {
    let world = World::start().await;
    let show = show(&world).await;
    let order = issue(&world, &show, 3).await;
    assert_eq!(order.deposit["amount"], PRICE);
    assert_eq!(order.deposit["bank"], "SHINHAN");
    assert!(text(&order.deposit, "accountNumber").starts_with("562"));
    order.fan.release(&order.reservation).await.refused(409, "PAYMENT_RUNNING");
    world.clock.advance(Duration::from_secs(3_600));
    show.wait_for_letter(&world.stranger, 3, 'H').await;
    let other = world.fan_inside(&show).await;
    other.select(&show, &[3]).await.refused(409, "SEAT_TAKEN");
    let order = Issued { fan: world.again(&order.fan), ..order };
    order.deposit(PRICE).await.expect(204);
    order.wait_for("CAPTURED", "CONFIRMED").await;
    show.wait_for_letter(&world.stranger, 3, 'S').await;
    // What is canceled goes back to the fan's account, and waits for it.
    order.fan.cancel(&order.reservation).await.expect(200);
    order.wait_for("REFUND_DUE", "CANCELED").await;
    order.give_account().await;
    order.wait_for("REFUNDED", "CANCELED").await;
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_waits_for_the_rest_and_goes_back_at_the_deadline() {
    let world = World::start().await;
    let show = show(&world).await;
    let (topped_up, missed) = (issue(&world, &show, 0).await, issue(&world, &show, 1).await);
    for order in [&topped_up, &missed] {
        order.deposit(PRICE - 1_000).await.expect(204);
        let payment = order.fan.payment(&order.payment).await;
        assert_eq!(payment["status"], "AWAITING_DEPOSIT");
        assert_eq!(payment["deposit"]["received"], PRICE - 1_000);
    }
    topped_up.deposit(1_000).await.expect(204);
    topped_up.wait_for("CAPTURED", "CONFIRMED").await;
    world.clock.advance(2 * DAY);
    let missed = Issued { fan: world.again(&missed.fan), ..missed };
    missed.wait_for("REFUND_DUE", "EXPIRED").await;
    missed.give_account().await;
    missed.wait_for("REFUNDED", "EXPIRED").await;
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn too_much_and_twice_gives_the_ticket_and_the_rest_back() {
    let world = World::start().await;
    let show = show(&world).await;
    let order = issue(&world, &show, 0).await;
    order.deposit(PRICE + 5_000).await.expect(204);
    order.wait_for("REFUND_DUE", "CONFIRMED").await;
    order.deposit(PRICE).await.expect(204);
    order.give_account().await;
    order.wait_for("PARTIALLY_REFUNDED", "CONFIRMED").await;
    let payment = order.fan.payment(&order.payment).await;
    assert_eq!(payment["refunded"], PRICE + 5_000, "{payment}");
    let receipt = format!("/api/booking/reservations/{}/receipt", order.reservation);
    let receipt = order.fan.api.get(&receipt).await.expect(200);
    assert_eq!(receipt["amount"], PRICE, "what was bought: {receipt}");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missed_deadline_frees_the_seat_and_a_late_deposit_goes_back() {
    let world = World::start().await;
    let show = show(&world).await;
    let order = issue(&world, &show, 0).await;
    world.clock.advance(2 * DAY);
    let order = Issued { fan: world.again(&order.fan), ..order };
    order.wait_for("CANCELED", "EXPIRED").await;
    show.wait_for_letter(&world.stranger, 0, 'A').await;
    order.deposit(PRICE).await.expect(204);
    order.wait_for("REFUND_DUE", "EXPIRED").await;
    order.give_account().await;
    order.wait_for("REFUNDED", "EXPIRED").await;
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fan_gives_an_order_up_before_the_deposit() {
    let world = World::start().await;
    let show = show(&world).await;
    let order = issue(&world, &show, 0).await;
    let path = format!("/api/payment/{}/deposit/cancel", order.payment);
    world.fan().await.api.post(&path, &json!({})).await.refused(404, "NOT_FOUND");
    let given_up = order.fan.api.post(&path, &json!({})).await.expect(200);
    assert_eq!(given_up["status"], "CANCELED", "{given_up}");
    order.wait_for("CANCELED", "CANCELED").await;
    order.fan.api.post(&path, &json!({})).await.refused(409, "PAYMENT_OVER");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_place_inside_is_free_as_soon_as_the_account_is_issued() {
    let world = World::start().await;
    let show = world.show(Plan { max_active: 1, ..Plan::default() }).await;
    offer(&world, &show, &["VIRTUAL_ACCOUNT"]).await.expect(200);
    let order = issue(&world, &show, 0).await;
    // The only place is free again, although the first fan hasn't paid.
    let next = world.fan_inside(&show).await;
    next.hold(&show, &[1]).await;
    assert_eq!(order.status().await.0, "AWAITING_DEPOSIT");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_sets_its_deadline_and_a_show_that_is_close_takes_no_deposit() {
    let world = World::start().await;
    let show = world.show(Plan::tonight()).await;
    offer(&world, &show, &["CARD", "VIRTUAL_ACCOUNT"]).await.expect(200);
    let event = format!("/api/events/{}", show.event);
    let admin = format!("/api/admin/events/{}", show.event);
    let edit =
        async |body: Value| send(world.organiser.call(Method::PATCH, &admin).json(&body)).await;
    let wrong = edit(json!({ "depositDeadline": { "days": 8 } })).await.expect(422);
    assert_eq!(wrong["errors"][0]["field"], "depositDeadline", "{wrong}");
    edit(json!({ "depositDeadline": { "hours": 3 } })).await.expect(200);
    let shown = world.stranger.get(&event).await.expect(200);
    assert_eq!(shown["depositDeadline"], json!({ "hours": 3 }));
    assert_eq!(shown["depositDates"].as_array().unwrap().len(), 1, "six hours are left");
    world.clock.advance(Duration::from_secs(5 * 3_600 + 1_800));
    let shown = world.stranger.get(&event).await.expect(200);
    assert_eq!(shown["depositDates"], json!([]));
    let fan = world.fan_inside(&show).await;
    let reservation = fan.hold(&show, &[0]).await;
    fan.request(&reservation, "VIRTUAL_ACCOUNT").await.refused(409, "DEPOSIT_TOO_LATE");
    world.finish().await;
}
