//! Forged webhooks.

use crate::payments::gateways::bank::{Bank, Gateway};
use crate::support::world::{World, accounts};
use futures::future::join_all;
use podo_domain::identity::Role;
use podo_domain::{PaymentId, Timestamp};
use podo_testbed::gateways::{Fault, RefundFault};
use serde_json::{Value, json};
use std::time::Duration;
use uuid::Uuid;

const TOSS: &str = "/api/payment/webhooks/toss";

/// Deletes every row and returns how many there were.
async fn count_out(world: &World) -> u64 {
    let store = &world.context().store;
    store.forget_webhooks(Timestamp::FAR_FUTURE, 10_000).await.unwrap()
}

fn changed(order: &str, created_at: &str) -> Value {
    json!({ "eventType": "PAYMENT_STATUS_CHANGED", "createdAt": created_at,
        "data": { "orderId": order, "status": "DONE" } })
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_that_are_forged_or_unknown_change_nothing() {
    let bank = Bank::open().await;
    let api = &bank.world.stranger;
    let unknown = json!({ "eventType": "SOMETHING_NEW", "data": {} });
    api.post(TOSS, &unknown).await.expect(200);
    let paid = json!({ "type": "Transaction.Paid", "data": { "paymentId": "x" } });
    let forged = api.post("/api/payment/webhooks/portone", &paid).await;
    forged.refused(401, "WEBHOOK_INVALID");
    api.post("/api/payment/webhooks/unknown", &paid).await.refused(404, "NOT_FOUND");
    bank.world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_about_payments_that_do_not_exist_leave_no_rows() {
    let bank = Bank::open().await;
    let api = &bank.world.stranger;
    let kcp = bank.start(Gateway::Kcp, 0, (Fault::None, RefundFault::None)).await;
    // Unknown payments, unknown types, and a payment of another gateway.
    let made_up = (0..30).map(|number| {
        let payment = PaymentId::new(Uuid::from_u128(number));
        changed(&payment.order_id(), "2026-11-17T00:00:00")
    });
    let kinds = (0..30).map(|number| json!({ "eventType": format!("K{number}"), "data": {} }));
    let foreign = (0..5).map(|number| changed(&kcp.order, &format!("foreign {number}")));
    let bodies: Vec<Value> = made_up.chain(kinds).chain(foreign).collect();
    for answer in join_all(bodies.iter().map(|body| api.post(TOSS, body))).await {
        answer.expect(200);
    }
    assert_eq!(count_out(&bank.world).await, 0);
    bank.world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_are_kept_once_and_forgotten_after_a_month() {
    let bank = Bank::open().await;
    let (world, api) = (&bank.world, &bank.world.stranger);
    let case = bank.start(Gateway::Toss, 0, (Fault::None, RefundFault::None)).await;
    let tell_thrice = async |name: &str| {
        for _ in 0..3 {
            api.post(TOSS, &changed(&case.order, name)).await.expect(200);
        }
    };
    let clean = async || {
        let path = "/api/admin/jobs/clean-messages/run";
        world.organiser.post(path, &json!({})).await.expect(200);
    };
    tell_thrice("today").await;
    clean().await;
    assert_eq!(count_out(world).await, 1, "too early to forget it");
    tell_thrice("long ago").await;
    world.clock.advance(Duration::from_secs(31 * 86_400));
    let organiser = accounts(world.context(), 1, Role::Admin).await.remove(0).1;
    let organiser = world.stranger.with_token(&organiser);
    organiser.post("/api/admin/jobs/clean-messages/run", &json!({})).await.expect(200);
    assert_eq!(count_out(world).await, 0);
}
