//! Manual resolution of payments and refunds that no gateway resolves: an organiser with evidence,
//! or two of them for large amounts.

use crate::support::client::{Api, text};
use crate::support::fan::Fan;
use crate::support::world::{PRICE, Plan, Show, World, accounts, until};
use podo_domain::identity::Role;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::time::Duration;

/// Makes every payment's gateway one that is no longer configured.
fn lose_gateway(world: &World) {
    let path = world._folder.as_ref().unwrap().path().join("podo.db");
    let database = Connection::open(path).unwrap();
    database.busy_timeout(Duration::from_secs(5)).unwrap();
    assert!(database.execute("update payments set gateway = 'gone'", []).unwrap() > 0);
}

/// A fan who pays by card, and what the bank does.
struct Case {
    fan: Fan,
    reservation: String,
    payment: String,
    body: Value,
}

async fn pay(world: &World, show: &Show, seats: &[u32], choice: &str) -> Case {
    let fan = world.fan_inside(show).await;
    let reservation = fan.hold(show, seats).await;
    let ready = fan.request(&reservation, "CARD").await.expect(201);
    let path = format!("/api/payment/sandbox/{}", text(&ready, "orderId"));
    let chosen = fan.api.post(&path, &json!({ "choice": choice })).await.expect(200);
    let body = json!({ "paymentId": ready["paymentId"], "amount": ready["amount"],
        "paymentKey": chosen["paymentKey"] });
    let answer = fan.api.post_once("/api/payment/confirm", "once", &body).await;
    assert!([200, 202].contains(&answer.status), "{}", answer.text);
    Case { fan, reservation, payment: text(&ready, "paymentId"), body }
}

fn resolve_path(case: &Case) -> String {
    format!("/api/admin/payments/{}/resolve", case.payment)
}

fn verdict(verdict: &str) -> Value {
    json!({ "verdict": verdict, "evidence": "거래 내역 화면 2026-11-17, 승인번호 12345" })
}

async fn second_organiser(world: &World) -> Api {
    let (_, token) = accounts(world.context(), 1, Role::Admin).await.remove(0);
    world.stranger.with_token(&token)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_no_gateway_tells_of_is_ended_by_hand_and_sells_the_seats() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let case = pay(&world, &show, &[0], "LATE").await;
    lose_gateway(&world);
    let (path, said) = (resolve_path(&case), verdict("CAPTURED"));
    case.fan.api.post_new(&path, &said).await.refused(403, "ADMIN_ONLY");
    world.organiser.post_new(&path, &said).await.refused(409, "PAYMENT_RUNNING");
    world.pass_void_time().await;
    until("it was asked about in vain", async || {
        let path = format!("/api/admin/payments/{}", case.payment);
        let seen = world.organiser.get(&path).await.expect(200);
        (seen["canResolve"] == true && seen["lastError"].is_string()).then_some(())
    })
    .await;
    let no_evidence = json!({ "verdict": "CAPTURED", "evidence": " " });
    world.organiser.post_new(&path, &no_evidence).await.refused(422, "INVALID");
    let first = world.organiser.post_once(&path, "by-hand", &said).await;
    assert_eq!(first.expect(200)["status"], "CAPTURED");
    let again = world.organiser.post_once(&path, "by-hand", &said).await;
    assert_eq!(again.text, first.text);
    world.organiser.post_new(&path, &said).await.refused(409, "NOT_STUCK");
    assert_eq!(case.fan.reservation(&case.reservation).await["status"], "CONFIRMED");
    let confirmed = case.fan.api.post_once("/api/payment/confirm", "once", &case.body).await;
    assert_eq!(confirmed.expect(200)["tickets"].as_array().unwrap().len(), 1);
    let log = world.organiser.get("/api/admin/audit?action=payment.resolve").await.expect(200);
    let entry = &log["items"][0];
    assert_eq!(entry["subject"], case.payment.as_str());
    assert!(text(&entry["details"], "evidence").contains("12345"), "{entry}");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_was_not_charged_is_ended_by_hand_and_can_be_tried_again() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let case = pay(&world, &show, &[0], "TIMEOUT").await;
    lose_gateway(&world);
    world.pass_void_time().await;
    let said = verdict("NOT_CAPTURED");
    let ended = world.organiser.post_new(&resolve_path(&case), &said).await.expect(200);
    assert_eq!(ended["status"], "FAILED");
    case.fan.charge(PRICE).await;
    let payment = case.fan.ready(&case.reservation, "WALLET").await;
    case.fan.confirm(&payment).await.expect(200);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn much_money_is_decided_about_by_two_organisers() {
    let world = World::start().await;
    let template = json!({ "layoutType": "grid", "rows": ["A"], "seatsPerRow": 4,
        "gradeMapping": { "A": "VIP" } });
    let show = world.show_in(template, json!({ "VIP": 600_000 }), Plan::default()).await;
    let case = pay(&world, &show, &[0, 1], "LATE").await;
    lose_gateway(&world);
    world.pass_void_time().await;
    let (path, said) = (resolve_path(&case), verdict("CAPTURED"));
    for _ in 0..2 {
        let asked = world.organiser.post_new(&path, &said).await.expect(202);
        assert_eq!(asked["status"], "SECOND_ORGANISER_NEEDED");
    }
    let second = second_organiser(&world).await;
    let other = second.post_new(&path, &verdict("NOT_CAPTURED")).await.expect(202);
    assert_eq!(other["status"], "SECOND_ORGANISER_NEEDED", "two must say the same");
    assert_eq!(second.post_new(&path, &said).await.expect(200)["status"], "CAPTURED");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_that_no_gateway_makes_is_ended_by_hand_once_it_is_stuck() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let case = pay(&world, &show, &[0], "APPROVE").await;
    lose_gateway(&world);
    case.fan.cancel(&case.reservation).await.expect(200);
    let case_path = format!("/api/admin/payments/{}", case.payment);
    let seen = world.organiser.get(&case_path).await.expect(200);
    let refund = text(&seen["refunds"][0], "id");
    assert_eq!((&seen["refunds"][0]["number"], &seen["status"]), (&json!(1), &json!("REFUND_DUE")));
    let path = format!("{case_path}/refunds/{refund}/resolve");
    let said = json!({ "evidence": "2026-11-17 계좌 이체, 국민은행 거래번호 987" });
    until("it is stuck", async || {
        world.clock.advance(Duration::from_secs(1));
        let seen = world.organiser.get(&case_path).await.expect(200);
        let refund = &seen["refunds"][0];
        (refund["canResolve"] == true).then(|| assert!(refund["attempts"].as_u64() >= Some(3)))
    })
    .await;
    let unknown_id = "0190a000-0000-7000-8000-000000000000";
    let foreign = format!("/api/admin/payments/{unknown_id}/refunds/{refund}/resolve");
    world.organiser.post_new(&foreign, &said).await.refused(404, "NOT_FOUND");
    let ended = world.organiser.post_new(&path, &said).await.expect(200);
    assert_eq!((&ended["status"], &ended["refundId"]), (&json!("REFUNDED"), &json!(refund)));
    world.organiser.post_new(&path, &said).await.refused(409, "NOT_STUCK");
    assert_eq!(case.fan.payment(&case.payment).await["refunded"], PRICE);
    let seen = world.organiser.get(&case_path).await.expect(200);
    assert!(text(&seen["refunds"][0], "evidence").contains("987"), "{seen}");
    let log = world.organiser.get("/api/admin/audit?action=refund.resolve").await.expect(200);
    assert_eq!(log["items"].as_array().unwrap().len(), 1, "{log}");
    world.finish().await;
}

/// A date whose four seats cost 400,000 won each.
async fn dear_show(world: &World) -> Show {
    let template = json!({ "layoutType": "grid", "rows": ["A"], "seatsPerRow": 4,
        "gradeMapping": { "A": "VIP" } });
    world.show_in(template, json!({ "VIP": 400_000 }), Plan::default()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn one_organiser_does_not_refund_much_money_in_small_parts() {
    let world = World::start().await;
    let show = dear_show(&world).await;
    let case = pay(&world, &show, &[0, 1, 2, 3], "APPROVE").await;
    let path = format!("/api/admin/payments/{}/refund", case.payment);
    let part = |seat: u32| json!({ "reason": "나눠서", "seatIds": [show.seat(seat)] });
    for seat in 0..2 {
        world.organiser.post_new(&path, &part(seat)).await.expect(200);
    }
    for seat in 2..4 {
        let answer = world.organiser.post_new(&path, &part(seat)).await.expect(202);
        assert_eq!(answer["status"], "SECOND_ORGANISER_NEEDED");
    }
    let second = second_organiser(&world).await;
    second.post_new(&path, &part(2)).await.expect(200);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_organiser_does_not_fill_a_wallet_with_much_money() {
    let world = World::start().await;
    let fan = world.fan().await;
    let path = format!("/api/admin/users/{}/wallet", fan.id);
    let give = |amount: i64| json!({ "amount": amount, "reason": "사과" });
    let whole = world.organiser.post_once(&path, "much", &give(5_000_000)).await;
    let waits = json!({ "userId": fan.id, "status": "SECOND_ORGANISER_NEEDED",
        "amount": 5_000_000 });
    assert_eq!(whole.expect(202), waits);
    let again = world.organiser.post_once(&path, "much", &give(5_000_000)).await;
    assert_eq!((again.status, &again.text), (202, &whole.text));
    // Twelve parts at once, each below the limit.
    let part = give(400_000);
    let parts = (0..12).map(|_| world.organiser.post_new(&path, &part));
    let answers = futures::future::join_all(parts).await;
    let n_made = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!((n_made, fan.balance().await), (2, 800_000));
    let log = world.organiser.get("/api/admin/audit?action=wallet.adjust-asked").await.expect(200);
    assert_eq!(log["items"].as_array().unwrap().len(), 11, "{log}");
    let second = second_organiser(&world).await;
    second.post_new(&path, &give(5_000_000)).await.expect(201);
    assert_eq!(fan.balance().await, 5_800_000);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_ended_by_hand_counts_with_what_was_refunded_that_day() {
    let world = World::start().await;
    let show = dear_show(&world).await;
    let stuck = pay(&world, &show, &[0], "LATE").await;
    let bought = pay(&world, &show, &[1, 2], "APPROVE").await;
    let database =
        Connection::open(world._folder.as_ref().unwrap().path().join("podo.db")).unwrap();
    database.busy_timeout(Duration::from_secs(5)).unwrap();
    let lose = "update payments set gateway = 'gone' where status <> 'CAPTURED'";
    assert_eq!(database.execute(lose, []).unwrap(), 1);
    world.pass_void_time().await;
    let path = format!("/api/admin/payments/{}/refund", bought.payment);
    world.organiser.post_new(&path, &json!({ "reason": "비" })).await.expect(200);
    let said = verdict("CAPTURED");
    let asked = world.organiser.post_new(&resolve_path(&stuck), &said).await.expect(202);
    assert_eq!(asked["status"], "SECOND_ORGANISER_NEEDED");
    let second = second_organiser(&world).await;
    second.post_new(&resolve_path(&stuck), &said).await.expect(200);
    world.finish().await;
}
