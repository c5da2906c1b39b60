//! Purchase records are kept for the configured number of years, and then erased.

use crate::engine;
use crate::support::client::{Api, text};
use crate::support::fan::Fan;
use crate::support::world::{PRICE, Plan, Show, World, accounts, until};
use podo::jobs::{Job, run_by_hand};
use podo_domain::identity::Role;
use serde_json::json;
use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Buys a seat by card.
async fn buy_by_card(fan: &Fan, show: &Show, seat: u32) -> String {
    let reservation = fan.hold(show, &[seat]).await;
    let ready = fan.request(&reservation, "CARD").await.expect(201);
    let path = format!("/api/payment/sandbox/{}", text(&ready, "orderId"));
    let chosen = fan.api.post(&path, &json!({ "choice": "APPROVE" })).await.expect(200);
    let body = json!({ "paymentId": ready["paymentId"], "amount": PRICE,
        "paymentKey": chosen["paymentKey"] });
    fan.api.post_new("/api/payment/confirm", &body).await.expect(200);
    reservation
}

async fn status_of(api: &Api, reservation: &str) -> u16 {
    api.get(&format!("/api/booking/reservations/{reservation}")).await.status
}

async fn n_movements(api: &Api) -> usize {
    api.get("/api/wallet/ledger").await.expect(200)["items"].as_array().unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn purchases_are_erased_after_the_years_that_were_chosen_and_every_invariant_holds() {
    let mut world = World::with(&[("PODO_PAYMENT_RETENTION_YEARS", "6")]).await;
    engine::let_records_go(world._folder.as_ref().unwrap().path());
    let show = world.show(Plan::default()).await;
    let [by_wallet, by_card, canceling, idle] = [
        world.fan_inside(&show).await,
        world.fan_inside(&show).await,
        world.fan_inside(&show).await,
        world.fan_inside(&show).await,
    ];
    by_wallet.charge(30_000).await;
    let old = [
        (by_wallet.buy(&show, 0).await.reservation, &by_wallet),
        (buy_by_card(&by_card, &show, 1).await, &by_card),
        (buy_by_card(&canceling, &show, 2).await, &canceling),
        (idle.hold(&show, &[3]).await, &idle),
    ];
    canceling.cancel(&old[2].0).await.expect(200);
    until("the card is refunded", async || {
        let due = world.context().store.overdue(world.context().now()).await.unwrap();
        (due.refunds_due.count == 0).then_some(())
    })
    .await;
    let movements = n_movements(&by_wallet.api).await;
    world.clock.advance(DAY);
    let fan = world.again(&idle);
    until("the hold ends", async || {
        (fan.reservation(&old[3].0).await["status"] == "EXPIRED").then_some(())
    })
    .await;

    world.clock.advance(DAY * (5 * 366));
    run_by_hand(world.context(), Job::EraseOldRecords).await.unwrap();
    for (reservation, fan) in &old {
        assert_eq!(status_of(&world.again(fan).api, reservation).await, 200);
    }
    world.clock.advance(DAY * 430);
    let (_, token) = accounts(world.context(), 1, Role::Admin).await.remove(0);
    world.organiser = world.stranger.with_token(&token);
    let next = world.show(Plan::default()).await;
    let young = world.fan_inside(&next).await;
    let bought = young.buy(&next, 0).await.reservation;
    run_by_hand(world.context(), Job::EraseOldRecords).await.unwrap();
    for (reservation, fan) in &old {
        let fan = world.again(fan);
        assert_eq!(status_of(&fan.api, reservation).await, 404);
        let tickets = fan.api.get("/api/tickets").await.expect(200);
        assert_eq!(tickets["items"], json!([]));
    }
    assert_eq!(status_of(&young.api, &bought).await, 200);
    let by_wallet = world.again(&by_wallet);
    assert_eq!(by_wallet.balance().await, 30_000, "what is in a wallet is still its owner's");
    assert_eq!(n_movements(&by_wallet.api).await, movements);
    world.finish().await;
}
