//! Idempotency keys: one effect and one response, for any number of retries.

#[path = "idempotency_steps.rs"]
mod steps;

use crate::support::client::{Api, new_key, text};
use crate::support::fan::Fan;
use crate::support::world::{PRICE, Plan, Show, World, until};
use futures::future::join_all;
use podo::jobs::{Job, run_by_hand};
use serde_json::{Value, json};
use std::time::Duration;
use steps::{STEPS, Step};

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_key_gives_the_same_answer_byte_for_byte() {
    let world = World::start().await;
    let show = world.show(Plan { n_seats: 40, ..Plan::default() }).await;
    for step in STEPS {
        let fan = world.fan_inside(&show).await;
        let write = step.prepare(&world, &fan, &show, step as u32 * 2).await;
        let first = write.api.post_once(&write.path, "again", &write.body).await;
        first.expect(write.status);
        assert_eq!(first.header("idempotency-replayed"), "", "{step:?}");
        let again = write.api.post_once(&write.path, "again", &write.body).await;
        assert_eq!((again.status, &again.text), (first.status, &first.text), "{step:?}");
        assert_eq!(again.header("idempotency-replayed"), "true", "{step:?}");
        assert_eq!(again.header("content-type"), first.header("content-type"), "{step:?}");
    }
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_requests_with_one_key_do_it_once() {
    let world = World::start().await;
    let show = world.show(Plan { n_seats: 40, ..Plan::default() }).await;
    for step in STEPS {
        let fan = world.fan_inside(&show).await;
        let write = step.prepare(&world, &fan, &show, step as u32 * 2).await;
        let before = fan.balance().await;
        let ask = || write.api.post_once(&write.path, "fifty", &write.body);
        let mut answers = join_all((0..50).map(|_| ask())).await;
        if step.asks_a_gateway() {
            answers.retain(|answer| answer.status != 409);
            answers.push(ask().await);
        }
        for answer in &answers {
            // Every response carries a new id, so the same bytes prove a single effect.
            answer.expect(write.status);
            assert_eq!(answer.text, answers[0].text, "{step:?}");
        }
        let moved = fan.balance().await - before;
        let expected = match step {
            Step::Select | Step::Request | Step::ChargeByGateway | Step::Transfer => 0,
            Step::Confirm | Step::PayFromWallet => -PRICE,
            Step::CancelReservation | Step::CancelPayment => PRICE,
            Step::Charge | Step::ConfirmCharge | Step::Adjust => 1_000,
        };
        assert_eq!(moved, expected, "{step:?}");
    }
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_never_hears_that_its_own_seat_is_taken() {
    let world = World::start().await;
    let show = world.show(Plan { n_seats: 60, ..Plan::default() }).await;
    for seat in 0..60 {
        let fan = world.fan_inside(&show).await;
        let write = Step::Select.prepare(&world, &fan, &show, seat).await;
        let ask = || write.api.post_once(&write.path, "own", &write.body);
        for answer in join_all((0..8).map(|_| ask())).await {
            answer.expect(201);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_used_for_another_body_is_refused() {
    let world = World::start().await;
    let show = world.show(Plan { n_seats: 40, ..Plan::default() }).await;
    for step in STEPS {
        let fan = world.fan_inside(&show).await;
        let write = step.prepare(&world, &fan, &show, step as u32 * 2).await;
        write.api.post_once(&write.path, "other", &write.body).await.expect(write.status);
        // Paying ended the entry, but this test is about the key.
        let answer = write.api.post_once(&write.path, "other", &write.other_body).await;
        answer.refused(422, "IDEMPOTENCY_KEY_REUSED");
    }
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_or_malformed_key_is_refused_and_nothing_is_done() {
    let world = World::start().await;
    let show = world.show(Plan { n_seats: 40, ..Plan::default() }).await;
    let long = "k".repeat(201);
    for step in STEPS {
        let fan = world.fan_inside(&show).await;
        let write = step.prepare(&world, &fan, &show, step as u32 * 2).await;
        let missing = write.api.post(&write.path, &write.body).await;
        missing.refused(400, "IDEMPOTENCY_KEY_MISSING");
        for odd in ["", "two words", "a\"b", "\"\"", &long] {
            let answer = write.api.post_once(&write.path, odd, &write.body).await;
            answer.refused(400, "IDEMPOTENCY_KEY_MALFORMED");
        }
        write.api.post_once(&write.path, &new_key(), &write.body).await.expect(write.status);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_fans_may_use_the_same_key() {
    let world = World::start().await;
    let show = world.show(Plan { n_seats: 80, ..Plan::default() }).await;
    for step in STEPS {
        let mut answers = Vec::new();
        for offset in [0, 40] {
            let fan = world.fan_inside(&show).await;
            let write = step.prepare(&world, &fan, &show, step as u32 * 2 + offset).await;
            let answer = write.api.post_once(&write.path, "shared", &write.body).await;
            answer.expect(write.status);
            answers.push(answer.text);
        }
        assert_ne!(answers[0], answers[1], "{step:?}");
    }
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_after_a_restart_gives_the_same_answer() {
    let folder = tempfile::TempDir::with_prefix("podo-").unwrap();
    let config = crate::support::world::config(folder.path(), &[]);
    let world = World::on(&config, podo::bootstrap::context(&config).await.unwrap()).await;
    let show = world.show(Plan { n_seats: 40, ..Plan::default() }).await;
    let mut done = Vec::new();
    for step in STEPS {
        let fan = world.fan_inside(&show).await;
        let write = step.prepare(&world, &fan, &show, step as u32 * 2).await;
        let answer = write.api.post_once(&write.path, "once", &write.body).await;
        answer.expect(write.status);
        done.push((step, fan.balance().await, fan, write, answer));
    }
    world.running.stop().await;

    let world = World::on(&config, podo::bootstrap::context(&config).await.unwrap()).await;
    let moved = |api: &Api| api.at_other(&world.running.url());
    for (step, balance, fan, write, before) in done {
        let again = moved(&write.api).post_once(&write.path, "once", &write.body).await;
        assert_eq!((again.status, again.text), (before.status, before.text), "{step:?}");
        let fan = Fan { api: moved(&fan.api), ..fan };
        assert_eq!(fan.balance().await, balance, "{step:?}");
    }
    world.finish().await;
}

/// Longer than responses without money are kept.
const LONG_AFTER: Duration = Duration::from_secs(4 * 24 * 60 * 60);

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_money_answers_as_long_as_the_payment_is_kept_and_others_for_three_days() {
    let world = World::start().await;
    let show = world.show(Plan { n_seats: 40, ..Plan::default() }).await;
    let mut done = Vec::new();
    // The store's own tests cover the organiser's key.
    for step in STEPS.into_iter().filter(|step| !matches!(step, Step::Adjust)) {
        let fan = world.fan_inside(&show).await;
        let write = step.prepare(&world, &fan, &show, step as u32 * 2).await;
        let answer = write.api.post_once(&write.path, "kept", &write.body).await;
        answer.expect(write.status);
        done.push((step, fan, write, answer));
    }
    world.clock.advance(LONG_AFTER);
    run_by_hand(world.context(), Job::ForgetMessages).await.unwrap();
    for (step, fan, write, before) in done {
        let api = world.again(&fan).api;
        if step.is_about_money() {
            let again = api.post_once(&write.path, "kept", &write.body).await;
            assert_eq!((again.status, again.text), (before.status, before.text), "{step:?}");
        } else {
            let again = api.post_once(&write.path, "kept", &write.other_body).await;
            assert!(!again.text.contains("IDEMPOTENCY_KEY_REUSED"), "{step:?} {}", again.text);
        }
    }
    world.finish().await;
}

/// The body that confirms a card payment for which the person chose `choice`.
async fn card_confirmation(fan: &Fan, show: &Show, seat: u32, choice: &str) -> Value {
    let reservation = fan.hold(show, &[seat]).await;
    let ready = fan.request(&reservation, "CARD").await.expect(201);
    let path = format!("/api/payment/sandbox/{}", text(&ready, "orderId"));
    let chosen = fan.api.post(&path, &json!({ "choice": choice })).await.expect(200);
    json!({ "paymentId": ready["paymentId"], "amount": PRICE, "paymentKey": chosen["paymentKey"] })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_key_tells_how_the_card_payment_ended() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let confirm =
        async |key: &str, body: &Value| fan.api.post_once("/api/payment/confirm", key, body).await;
    let declined = card_confirmation(&fan, &show, 0, "DECLINE").await;
    for _ in 0..2 {
        let problem = confirm("no", &declined).await.refused(402, "PAYMENT_DECLINED");
        assert_eq!(problem["reason"], "REJECT_CARD_COMPANY");
    }
    let late = card_confirmation(&fan, &show, 1, "LATE").await;
    confirm("late", &late).await.expect(202);
    confirm("late", &late).await.refused(409, "IDEMPOTENCY_KEY_RUNNING");
    world.clock.advance(Duration::from_secs(70));
    let paid = until("the payment is found", async || {
        let answer = confirm("late", &late).await;
        (answer.status != 409).then_some(answer)
    });
    let paid = paid.await;
    assert_eq!(paid.expect(200)["status"], "CAPTURED");
    assert_eq!(paid.header("idempotency-replayed"), "true");
    world.finish().await;
}
