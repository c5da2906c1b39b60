//! Every way of paying at every gateway, on desktops and on phones: each fault ends as named, and the
//! method that the gateway reports is kept.

use crate::payments::gateways::bank::{Bank, Gateway, Means, Webhook, offer};
use crate::payments::gateways::play_all;
use crate::support::client::text;
use crate::support::world::{PRICE, Plan, World, until};
use podo_testbed::gateways::{Fault, RefundFault};
use serde_json::{Value, json};
use std::time::Duration;

/// Every fault with every method; the webhooks' faults and the devices take turns.
async fn every_method(gateway: Gateway) {
    let mut plays = Vec::new();
    for method in gateway.methods() {
        for fault in Fault::ALL {
            let turn = plays.len();
            let webhook = match gateway.has_webhooks() {
                true => Webhook::ALL[turn % Webhook::ALL.len()],
                false => Webhook::Missing,
            };
            plays.push((Means { method, on_phone: turn % 2 == 0 }, fault, webhook));
        }
    }
    play_all(gateway, plays).await;
}

/// All pairs of faults with a transfer, and at the companies without webhooks with a card on a phone.
async fn pairs_of_others(gateway: Gateway) {
    let webhooks = if gateway.has_webhooks() { &Webhook::ALL[..] } else { &[Webhook::Missing] };
    let mut plays = Vec::new();
    for fault in Fault::ALL {
        for (i, webhook) in webhooks.iter().enumerate() {
            plays.push((Means { method: "TRANSFER", on_phone: i % 2 == 0 }, fault, *webhook));
        }
    }
    if !gateway.has_webhooks() {
        let card = Means { method: "CARD", on_phone: true };
        plays.extend(Fault::ALL.map(|fault| (card, fault, Webhook::Missing)));
    }
    play_all(gateway, plays).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_method_at_toss_ends_as_named() {
    every_method(Gateway::Toss).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_method_at_portone_ends_as_named() {
    every_method(Gateway::PortOne).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_method_at_inicis_ends_as_named() {
    every_method(Gateway::Inicis).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_method_at_kcp_ends_as_named() {
    every_method(Gateway::Kcp).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_pairs_of_faults_of_a_transfer_at_toss_end_as_named() {
    pairs_of_others(Gateway::Toss).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_pairs_of_faults_of_a_transfer_at_portone_end_as_named() {
    pairs_of_others(Gateway::PortOne).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_faults_on_a_phone_at_inicis_end_as_named() {
    pairs_of_others(Gateway::Inicis).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_faults_on_a_phone_at_kcp_end_as_named() {
    pairs_of_others(Gateway::Kcp).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transfer_goes_back_to_where_it_came_from() {
    let bank = Bank::open().await;
    let means = Means { method: "TRANSFER", on_phone: true };
    let mut cases = Vec::new();
    for (seat, gateway) in (0..).zip(Gateway::ALL.into_iter().filter(|it| !it.methods().is_empty()))
    {
        let case = bank.start_by(gateway, means, &[seat], (Fault::None, RefundFault::Drops)).await;
        bank.play(&case, Webhook::Missing).await;
        case.fan.cancel(&case.reservation).await.expect(200);
        cases.push((gateway, case));
    }
    for (gateway, case) in &cases {
        until(&format!("{gateway:?} refunds it"), async || {
            bank.world.clock.advance(Duration::from_secs(5));
            (case.status().await == "REFUNDED").then_some(())
        })
        .await;
        assert_eq!(bank.gateways.order(&case.order).unwrap().refunded, PRICE);
    }
    bank.close().await;
}

/// A gateway's window may offer more than the method that opened it.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_used_is_kept_and_not_what_was_asked_for() {
    let bank = Bank::open().await;
    for (seat, gateway) in (0..).zip(Gateway::ALL.into_iter().filter(|it| !it.methods().is_empty()))
    {
        let case = bank.start(gateway, seat, (Fault::None, RefundFault::None)).await;
        bank.gateways.pay_with(&case.order, "PAYCO");
        bank.play(&case, Webhook::Missing).await;
        let payment = case.fan.payment(&case.payment).await;
        let both = (&payment["method"], &payment["paidWith"]);
        assert_eq!(both, (&json!("CARD"), &json!("PAYCO")), "{gateway:?}");
        let path = format!("/api/admin/payments?query={}", case.payment);
        let row = bank.world.organiser.get(&path).await.expect(200)["items"][0].clone();
        assert_eq!(row["paidWith"], "PAYCO");
    }
    let path =
        format!("/api/admin/events/{}/settlement?from=2020-01-01&to=2100-01-01", bank.event());
    let found = bank.world.organiser.get(&path).await.expect(200);
    let lines = found["lines"].as_array().unwrap();
    let is_payco = |line: &&Value| line["method"] == "PAYCO" && line["charged"] == PRICE;
    assert_eq!(lines.iter().filter(is_payco).count(), 4, "{found}");
    let file = bank.world.organiser.get("/api/admin/payments?format=csv&reason=x").await;
    assert!(file.text.lines().nth(1).unwrap().contains(r#","CARD","PAYCO","#), "{}", file.text);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_the_organiser_offers_and_the_gateway_takes_is_accepted() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let event = format!("/api/events/{}", show.event);
    let offered = world.stranger.get(&event).await.expect(200)["paymentMethods"].clone();
    assert_eq!(offered, json!(["CARD", "WALLET"]), "by default");
    let fan = world.fan_inside(&show).await;
    fan.charge(PRICE).await;
    let reservation = fan.hold(&show, &[0]).await;
    fan.request(&reservation, "KAKAO_PAY").await.refused(409, "METHOD_NOT_OFFERED");
    fan.request(&reservation, "BOX_OFFICE").await.refused(422, "UNKNOWN_GATEWAY");
    fan.request(&reservation, "CASH").await.refused(422, "INVALID");

    let edited = offer(&world, &show, &["TRANSFER", "KAKAO_PAY", "TRANSFER"]).await.expect(200);
    assert_eq!(edited["paymentMethods"], json!(["KAKAO_PAY", "TRANSFER"]));
    fan.request(&reservation, "CARD").await.refused(409, "METHOD_NOT_OFFERED");
    fan.request(&reservation, "WALLET").await.refused(409, "METHOD_NOT_OFFERED");
    fan.pay_from_wallet(&reservation).await.refused(409, "METHOD_NOT_OFFERED");
    let ready = fan.request(&reservation, "KAKAO_PAY").await.expect(201);
    assert!(text(&ready["checkout"], "url").ends_with("&method=KAKAO_PAY"), "{ready}");

    let none = offer(&world, &show, &[]).await.refused(422, "INVALID");
    assert_eq!(none["errors"][0]["field"], "paymentMethods", "{none}");
    offer(&world, &show, &["BOX_OFFICE", "CARD"]).await.refused(422, "INVALID");
    let gateways = world.stranger.get("/api/payment/gateways").await.expect(200);
    assert!(gateways["methods"]["sandbox"].as_array().unwrap().contains(&json!("KAKAO_PAY")));
    world.finish().await;
}

/// KCP has no Samsung Pay; without a choice, another gateway takes it.
#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_lacks_a_method_is_not_asked() {
    let bank = Bank::open().await;
    let fan = bank.fan().await;
    let reservation = bank.hold(&fan, 0).await;
    let ask = async |body: Value| fan.api.post_new("/api/payment/request", &body).await;
    let body = json!({ "reservationId": reservation, "method": "SAMSUNG_PAY", "gateway": "kcp" });
    ask(body).await.refused(422, "METHOD_UNAVAILABLE");
    let body = json!({ "reservationId": reservation, "method": "SAMSUNG_PAY" });
    let ready = ask(body).await.expect(201);
    assert_ne!(ready["checkout"]["gateway"], "kcp");
    bank.world.finish().await;
}
