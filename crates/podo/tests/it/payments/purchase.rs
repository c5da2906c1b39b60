//! The whole path from sign-up to ticket, and back.

use crate::support::client::{Answer, text};
use crate::support::fan::Fan;
use crate::support::world::{PRICE, Plan, World, until};
use serde_json::json;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn a_fan_signs_up_waits_holds_pays_and_has_a_ticket() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let sign_up = json!({ "email": "podo@example.kr", "password": "green grapes", "name": "포도" });
    world.stranger.post("/api/auth/signup", &sign_up).await.expect(201);
    let log_in = json!({ "email": "PODO@example.kr", "password": "green grapes" });
    let session = world.stranger.post("/api/auth/login", &log_in).await.expect(200);
    let api = world.stranger.with_token(&text(&session, "accessToken"));
    let id = text(&session["user"], "id").parse().unwrap();
    let mut fan = Fan { id, api };
    fan.go_inside(&show).await;
    let bought = fan.buy(&show, 3).await;

    assert_eq!(fan.balance().await, 0);
    let reservation = fan.reservation(&bought.reservation).await;
    assert_eq!(reservation["status"], "CONFIRMED");
    assert_eq!(reservation["bookingNumber"], bought.booking_number);
    let tickets = fan.api.get("/api/tickets").await.expect(200);
    assert_eq!(tickets["items"][0]["id"], bought.ticket);
    assert_eq!(tickets["items"][0]["seatNumber"], "A-4");
    let qr = fan.api.get(&format!("/api/tickets/{}/qr.svg", bought.ticket)).await;
    qr.expect(200);
    assert_eq!(qr.header("content-type"), "image/svg+xml");
    assert!(qr.text.contains("<svg"), "{}", qr.text);
    show.wait_for_letter(&world.stranger, 3, 'S').await;
    wait_for_notification(&fan, "예매가 완료되었어요").await;
    world.finish().await;
}

/// Waits for a notification with this subject in the mailbox.
async fn wait_for_notification(fan: &Fan, subject: &str) {
    until(subject, async || {
        let mailbox = fan.api.get("/api/users/me/mailbox").await.expect(200);
        let notifications = mailbox["items"].as_array().unwrap();
        notifications.iter().any(|it| it["subject"] == subject).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_canceled_reservation_gives_back_money_and_seat() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    show.wait_for_letter(&world.stranger, 0, 'S').await;

    let canceled = fan.cancel(&bought.reservation).await.expect(200);
    assert_eq!(canceled["status"], "REFUNDED");
    assert_eq!(canceled["reservationStatus"], "CANCELED");
    assert_eq!(canceled["refundAmount"], PRICE);
    assert_eq!(fan.balance().await, PRICE);
    show.wait_for_letter(&world.stranger, 0, 'A').await;
    let ticket = fan.api.get(&format!("/api/tickets/{}", bought.ticket)).await.expect(200);
    assert_eq!(ticket["status"], "VOID");
    wait_for_notification(&fan, "환불이 완료되었어요").await;
    fan.cancel(&bought.reservation).await.refused(409, "ALREADY_CANCELED");

    world.fan_inside(&show).await.buy(&show, 0).await;
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_without_enough_money_pays_nothing() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let reservation = fan.hold(&show, &[0]).await;
    let payment = fan.ready(&reservation, "WALLET").await;
    let problem = fan.confirm(&payment).await.refused(402, "PAYMENT_DECLINED");
    assert_eq!(problem["reason"], "INSUFFICIENT_BALANCE");
    fan.charge(PRICE).await;
    fan.confirm(&payment).await.expect(200);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_amount_and_the_reservation_must_be_the_payments_own() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let (fan, other) = (world.fan_inside(&show).await, world.fan().await);
    fan.charge(PRICE).await;
    let reservation = fan.hold(&show, &[0]).await;
    let payment = fan.ready(&reservation, "WALLET").await;
    for amount in [0, 1, PRICE - 1, PRICE + 1] {
        let body = json!({ "paymentId": payment, "amount": amount });
        let answer = fan.api.post_new("/api/payment/confirm", &body).await;
        answer.refused(422, "AMOUNT_MISMATCH");
    }
    other.confirm(&payment).await.refused(404, "NOT_FOUND");
    other.request(&reservation, "WALLET").await.refused(404, "NOT_FOUND");
    other.cancel(&reservation).await.refused(404, "NOT_FOUND");
    fan.cancel(&reservation).await.refused(409, "NOT_PAID");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_pays_a_hold_in_one_call() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let (fan, other) = (world.fan_inside(&show).await, world.fan().await);
    let reservation = fan.hold(&show, &[3]).await;
    // A card was chosen before; the wallet replaces that payment.
    let by_card = fan.ready(&reservation, "CARD").await;
    let problem = fan.pay_from_wallet(&reservation).await.refused(402, "PAYMENT_DECLINED");
    assert_eq!(problem["reason"], "INSUFFICIENT_BALANCE");
    assert_eq!(fan.payment(&by_card).await["status"], "READY", "a refusal changes nothing");
    fan.charge(PRICE).await;
    other.pay_from_wallet(&reservation).await.refused(404, "NOT_FOUND");
    let body = json!({ "reservationId": reservation, "amount": PRICE - 1 });
    fan.api.post_new("/api/payment/wallet", &body).await.refused(422, "AMOUNT_MISMATCH");

    let paid = fan.pay_from_wallet(&reservation).await.expect(200);
    assert_eq!(paid["status"], "CAPTURED");
    assert_eq!(paid["reservation"]["status"], "CONFIRMED");
    assert_eq!(paid["tickets"][0]["seatNumber"], "A-4");
    assert_eq!(fan.balance().await, 0);
    assert_eq!(fan.payment(&by_card).await["status"], "CANCELED");
    let payment = fan.payment(&text(&paid, "paymentId")).await;
    let steps = payment["history"].as_array().unwrap();
    let steps: Vec<_> = steps.iter().map(|step| step["status"].as_str().unwrap()).collect();
    assert_eq!(steps, ["READY", "CAPTURED"]);
    show.wait_for_letter(&world.stranger, 3, 'S').await;
    fan.pay_from_wallet(&reservation).await.refused(409, "ALREADY_PAID");
    let canceled = fan.cancel(&reservation).await.expect(200);
    assert_eq!(canceled["refundAmount"], PRICE);
    world.finish().await;
}

/// A card payment on the sandbox's page, where the person chose `choice`.
async fn pay_by_card(fan: &Fan, reservation: &str, choice: &str) -> (String, Answer) {
    let ready = fan.request(reservation, "CARD").await.expect(201);
    assert!(text(&ready["checkout"], "url").starts_with("/pay/sandbox?"), "{ready}");
    let path = format!("/api/payment/sandbox/{}", text(&ready, "orderId"));
    let chosen = fan.api.post(&path, &json!({ "choice": choice })).await.expect(200);
    let payment = text(&ready, "paymentId");
    let body = json!({
        "paymentId": payment, "amount": PRICE, "paymentKey": text(&chosen, "paymentKey"),
    });
    let answer = fan.api.post_new("/api/payment/confirm", &body).await;
    (payment, answer)
}

/// Waits until a payment has this status.
async fn wait_for_payment(fan: &Fan, payment: &str, status: &str) {
    let what = format!("the payment becomes {status}");
    until(&what, async || (fan.payment(payment).await["status"] == status).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_card_buys_the_seat_even_when_it_answers_twice() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    for (seat, choice) in [(0, "APPROVE"), (1, "DUPLICATE")] {
        let fan = world.fan_inside(&show).await;
        let reservation = fan.hold(&show, &[seat]).await;
        let (payment, answer) = pay_by_card(&fan, &reservation, choice).await;
        assert_eq!(answer.expect(200)["status"], "CAPTURED", "{choice}");
        assert_eq!(fan.reservation(&reservation).await["status"], "CONFIRMED");
        let canceled = fan.cancel(&reservation).await.expect(200);
        assert_eq!(canceled["status"], "REFUND_DUE", "{choice}");
        wait_for_payment(&fan, &payment, "REFUNDED").await;
    }
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_declined_card_the_seats_are_kept_for_another_payment() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let reservation = fan.hold(&show, &[0]).await;
    let (payment, answer) = pay_by_card(&fan, &reservation, "DECLINE").await;
    answer.refused(402, "PAYMENT_DECLINED");
    assert_eq!(fan.payment(&payment).await["status"], "FAILED");
    assert_eq!(fan.reservation(&reservation).await["status"], "HELD");
    fan.confirm(&payment).await.refused(409, "PAYMENT_OVER");
    let (_, answer) = pay_by_card(&fan, &reservation, "APPROVE").await;
    answer.expect(200);
    fan.request(&reservation, "WALLET").await.refused(409, "ALREADY_PAID");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_with_an_unknown_outcome_keeps_its_seat_until_it_is_voided() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let reservation = fan.hold(&show, &[0]).await;
    let (payment, answer) = pay_by_card(&fan, &reservation, "TIMEOUT").await;
    assert_eq!(answer.expect(202)["status"], "UNKNOWN");
    fan.release(&reservation).await.refused(409, "PAYMENT_RUNNING");
    world.fan_inside(&show).await.select(&show, &[0]).await.refused(409, "SEAT_TAKEN");

    world.pass_void_time().await;
    wait_for_payment(&fan, &payment, "FAILED").await;
    assert_eq!(fan.reservation(&reservation).await["status"], "HELD");
    let (_, answer) = pay_by_card(&fan, &reservation, "APPROVE").await;
    answer.expect(200);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_charge_whose_answer_was_lost_is_found_and_buys_the_seat() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let reservation = fan.hold(&show, &[0]).await;
    let (payment, answer) = pay_by_card(&fan, &reservation, "LATE").await;
    answer.expect(202);
    world.clock.advance(Duration::from_secs(70));
    wait_for_payment(&fan, &payment, "CAPTURED").await;
    assert_eq!(fan.reservation(&reservation).await["status"], "CONFIRMED");
    // A sale counts, however its outcome became known.
    until("the sale is counted", async || {
        let metrics = world.stranger.get("/metrics").await.text;
        metrics.lines().any(|line| line == "podo_purchases_total 1").then_some(())
    })
    .await;
    world.finish().await;
}
