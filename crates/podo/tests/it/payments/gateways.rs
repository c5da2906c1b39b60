//! Gateways that fail in every way at every moment: each case has a defined outcome, and the
//! records agree afterwards.

#[path = "gateways/bank.rs"]
pub(crate) mod bank;

#[path = "gateways/deposits.rs"]
mod deposits;

#[path = "gateways/doctor.rs"]
mod doctor;

#[path = "gateways/hang_up.rs"]
mod hang_up;

#[path = "gateways/line.rs"]
mod line;

#[path = "gateways/methods.rs"]
mod methods;

#[path = "gateways/refund_order.rs"]
mod refund_order;

#[path = "gateways/webhooks.rs"]
mod webhooks;

use crate::support::client::text;
use crate::support::world::{PRICE, until};
use bank::{Bank, Gateway, Means, Webhook};
use futures::future::join_all;
use podo_app::payments::port::payments::GatewayQuery;
use podo_domain::PaymentId;
use podo_testbed::gateways::{Fault, RefundFault};
use serde_json::json;
use std::time::Duration;

/// The outcome of a payment whose charge fails like this, whatever the webhooks do.
fn end_of(gateway: Gateway, fault: Fault) -> &'static str {
    match fault {
        Fault::None | Fault::Busy => "CAPTURED",
        Fault::Declines | Fault::Silent => "FAILED",
        // A charge of the wrong amount is refunded.
        Fault::WrongAmount => "REFUNDED",
        // Inicis cannot be queried about a charge whose response was lost, so it is voided.
        Fault::AnswersLate | Fault::Drops | Fault::Fails | Fault::Garbage => match gateway {
            Gateway::Inicis => "FAILED",
            Gateway::Toss | Gateway::PortOne | Gateway::Kcp | Gateway::Stripe => "CAPTURED",
        },
    }
}

/// All pairs of a charge fault and a webhook fault.
async fn all_pairs(gateway: Gateway) {
    let mut plays = Vec::new();
    let webhooks = if gateway.has_webhooks() { &Webhook::ALL[..] } else { &[Webhook::Missing] };
    for fault in Fault::ALL {
        plays.extend(webhooks.iter().map(|webhook| (Means::CARD, fault, *webhook)));
    }
    play_all(gateway, plays).await;
}

/// Plays payments by these means with these faults, and checks how each ends.
async fn play_all(gateway: Gateway, plays: Vec<(Means, Fault, Webhook)>) {
    let bank = Bank::open().await;
    let mut cases = Vec::new();
    for (means, fault, webhook) in plays.into_iter().filter(|(_, fault, _)| gateway.knows(*fault)) {
        let seat = u32::try_from(cases.len()).unwrap();
        let case = bank.start_by(gateway, means, &[seat], (fault, RefundFault::None)).await;
        bank.play(&case, webhook).await;
        cases.push((means, fault, webhook, case));
    }
    // Unknown outcomes are queried, and voided after three minutes.
    bank.world.pass_void_time().await;
    for (means, fault, webhook, case) in &cases {
        let end = end_of(gateway, *fault);
        let what = format!("{gateway:?} {means:?} {fault:?} {webhook:?} ends as {end}");
        until(&what, async || (case.status().await == end).then_some(())).await;
        let reservation = case.fan.reservation(&case.reservation).await;
        assert_eq!(reservation["status"] == "CONFIRMED", end == "CAPTURED", "{what}");
        let booked = bank.gateways.order(&case.order).unwrap();
        assert!(booked.n_captures <= 1, "{what}: {booked:?}");
        let kept = booked.captured - booked.refunded;
        assert_eq!(kept, if end == "CAPTURED" { PRICE } else { 0 }, "{what}: {booked:?}");
        if end == "CAPTURED" {
            assert_eq!(case.fan.payment(&case.payment).await["paidWith"], means.method, "{what}");
        }
    }
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_pairs_of_faults_at_toss_end_as_named() {
    all_pairs(Gateway::Toss).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_pairs_of_faults_at_portone_end_as_named() {
    all_pairs(Gateway::PortOne).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_faults_at_inicis_end_as_named() {
    all_pairs(Gateway::Inicis).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_faults_at_kcp_end_as_named() {
    all_pairs(Gateway::Kcp).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_pairs_of_faults_at_stripe_end_as_named() {
    all_pairs(Gateway::Stripe).await;
}

/// A browser names Stripe's intent: one that paid for another order must not pay for this one.
#[tokio::test(flavor = "multi_thread")]
async fn an_intent_that_paid_for_another_order_settles_nothing() {
    let bank = Bank::open().await;
    let paid = bank.start(Gateway::Stripe, 0, (Fault::None, RefundFault::None)).await;
    bank.play(&paid, Webhook::Missing).await;
    assert_eq!(paid.status().await, "CAPTURED");
    let thief = bank.start(Gateway::Stripe, 1, (Fault::None, RefundFault::None)).await;
    let mut body = thief.confirm_body();
    body["paymentKey"] = json!(format!("pi_{}", paid.order));
    let answer = thief.fan.api.post_new("/api/payment/confirm", &body).await;
    assert!([202, 402].contains(&answer.status), "{}", answer.text);
    bank.world.pass_void_time().await;
    until("it has failed", async || (thief.status().await == "FAILED").then_some(())).await;
    let booked = bank.gateways.order(&paid.order).unwrap();
    assert_eq!((booked.captured, booked.refunded), (PRICE, 0), "the paid order stays paid");
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refunds_that_fail_or_lose_their_answer_are_made_once() {
    let bank = Bank::open().await;
    let mut cases = Vec::new();
    for gateway in Gateway::ALL {
        for refund_fault in [RefundFault::None, RefundFault::FailsTimes(5), RefundFault::Drops] {
            let seat = u32::try_from(cases.len()).unwrap();
            let case = bank.start(gateway, seat, (Fault::None, refund_fault)).await;
            bank.play(&case, Webhook::Missing).await;
            assert_eq!(case.status().await, "CAPTURED", "{gateway:?}");
            case.fan.cancel(&case.reservation).await.expect(200);
            cases.push((gateway, refund_fault, case));
        }
    }
    for (gateway, refund_fault, case) in &cases {
        let what = format!("{gateway:?} {refund_fault:?} is refunded");
        until(&what, async || {
            bank.world.clock.advance(Duration::from_secs(5));
            (case.status().await == "REFUNDED").then_some(())
        })
        .await;
        let booked = bank.gateways.order(&case.order).unwrap();
        assert_eq!((booked.captured, booked.refunded), (PRICE, PRICE), "{what}");
    }
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_charge_after_the_confirmed_void_is_noticed_and_goes_back() {
    let bank = Bank::open().await;
    for (seat, gateway) in [(0, Gateway::Toss), (1, Gateway::PortOne)] {
        let case = bank.start(gateway, seat, (Fault::Silent, RefundFault::None)).await;
        bank.play(&case, Webhook::Missing).await;
        bank.world.pass_void_time().await;
        until("it is voided", async || (case.status().await == "FAILED").then_some(())).await;
        bank.gateways.capture_unasked(&case.order, PRICE);
        bank.tell(&case, "late").await;
        until("it goes back", async || (case.status().await == "REFUNDED").then_some(())).await;
    }
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_confirms_of_one_payment_charge_once() {
    let bank = Bank::open().await;
    let case = bank.start(Gateway::Toss, 0, (Fault::None, RefundFault::None)).await;
    let body = case.confirm_body();
    let ask = || case.fan.api.post_new("/api/payment/confirm", &body);
    let answers = join_all((0..50).map(|_| ask())).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    let booked = bank.gateways.order(&case.order).unwrap();
    assert_eq!((booked.n_captures, booked.n_asked()), (1, 1), "one question reaches the gateway");
    bank.close().await;
}

/// The control: without the intent in the store, every confirm would reach the gateway.
#[tokio::test(flavor = "multi_thread")]
async fn without_the_stored_intent_every_confirm_reaches_the_gateway() {
    let bank = Bank::open().await;
    let case = bank.start(Gateway::Toss, 0, (Fault::Busy, RefundFault::None)).await;
    let payment: PaymentId = case.payment.parse().unwrap();
    let ask = GatewayQuery {
        payment,
        gateway: "toss".into(),
        method: podo_domain::payments::PaymentMethod::Card,
        payment_key: Some(format!("tk_{}", case.order)),
        amount: podo_domain::Won::new(PRICE).unwrap(),
        currency: podo_domain::Currency::Krw,
    };
    let context = bank.world.context();
    let gateway = context.gateway("toss").unwrap();
    join_all((0..10).map(|_| gateway.capture(&ask, context.now()))).await;
    assert!(bank.gateways.order(&case.order).unwrap().n_asked() > 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_charged_through_a_gateway_gets_what_was_taken_whenever_it_is_known() {
    let bank = Bank::open().await;
    let cases = [
        (Fault::None, 201, PRICE),
        (Fault::AnswersLate, 202, PRICE),
        (Fault::WrongAmount, 201, PRICE - 1),
        (Fault::Declines, 402, 0),
    ];
    for (fault, status, arrives) in cases {
        let fan = bank.world.fan().await;
        let body = json!({ "amount": PRICE, "gateway": "toss" });
        let ready = fan.api.post_new("/api/wallet/charge", &body).await.expect(201);
        let order = text(&ready, "orderId");
        bank.gateways.approve(&order, fault, RefundFault::None);
        let body = json!({ "chargeId": ready["chargeId"], "amount": PRICE,
            "paymentKey": format!("tk_{order}") });
        let first = fan.api.post_once("/api/wallet/charge/confirm", "once", &body).await;
        assert_eq!(first.status, status, "{fault:?}: {}", first.text);
        bank.world.clock.advance(Duration::from_secs(70));
        let path = format!("/api/wallet/charge/{}", text(&ready, "chargeId"));
        let end = if arrives > 0 { "CAPTURED" } else { "FAILED" };
        until("the charge is settled", async || {
            (fan.api.get(&path).await.expect(200)["status"] == end).then_some(())
        })
        .await;
        assert_eq!(fan.balance().await, arrives, "{fault:?}");
        let again = fan.api.post_once("/api/wallet/charge/confirm", "once", &body).await;
        assert_eq!(again.status, if arrives > 0 { 201 } else { 402 }, "{}", again.text);
        assert_eq!(fan.balance().await, arrives, "{fault:?}");
    }
    bank.close().await;
}
