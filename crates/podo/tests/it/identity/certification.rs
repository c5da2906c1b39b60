//! One account per person; one place in the queue per person.

use crate::support::client::{Answer, text};
use crate::support::fan::Fan;
use crate::support::world::{Plan, World};
use futures::future::join_all;
use podo_domain::identity::ERASED_AFTER;
use podo_testbed::Gateways;
use serde_json::{Value, json};
use std::time::Duration;

pub(crate) const CI: &str = "CIcanary+7Zq3Vb1xkT0mWq9sJ5nYp2LrHd8Ff6GgKk4Cc/AaEeIiOoUuXxZz==";
const DI: &str = "DIcanary4Cc/AaEeIiOoUuXxZz";

pub(crate) async fn world_with(portone: &Gateways) -> World {
    let url = portone.url();
    World::with(&[
        ("PODO_IDENTITY_URL", url.as_str()),
        ("PODO_IDENTITY_STORE_ID", "store"),
        ("PODO_IDENTITY_CHANNEL_KEY", "channel"),
        ("PODO_IDENTITY_SECRET", "secret"),
    ])
    .await
}

async fn start(fan: &Fan) -> String {
    let started = fan.api.post("/api/users/me/identity/start", &json!({})).await.expect(201);
    assert_eq!(started["channelKey"], "channel");
    text(&started, "identityVerificationId")
}

async fn prove(fan: &Fan, id: &str) -> Answer {
    let body = json!({ "identityVerificationId": id });
    fan.api.post("/api/users/me/identity", &body).await
}

/// The fan completes PortOne's window as this person and returns.
pub(crate) async fn prove_as(
    portone: &Gateways,
    fan: &Fan,
    ci: Option<&str>,
    di: Option<&str>,
) -> Answer {
    let id = start(fan).await;
    portone.pass_identity(&id, ci, di);
    prove(fan, &id).await
}

#[tokio::test(flavor = "multi_thread")]
async fn one_person_has_one_account() {
    let portone = Gateways::start().unwrap();
    let world = world_with(&portone).await;
    let (fan, second, other) = (world.fan().await, world.fan().await, world.fan().await);
    let answer = prove_as(&portone, &fan, Some(CI), Some(DI)).await;
    assert_eq!(answer.expect(200)["identityVerified"], true);
    assert!(!answer.text.contains("canary") && !answer.text.contains("010"), "{}", answer.text);
    prove_as(&portone, &fan, Some(CI), Some(DI)).await.expect(200);
    prove_as(&portone, &second, Some(CI), None).await.refused(409, "IDENTITY_TAKEN");
    prove_as(&portone, &second, None, Some(DI)).await.refused(409, "IDENTITY_TAKEN");
    prove_as(&portone, &second, None, None).await.refused(422, "IDENTITY_UNPROVEN");
    prove_as(&portone, &other, Some("another person"), None).await.expect(200);
    // An account keeps its first verified person.
    prove_as(&portone, &other, Some("a third person"), None).await.refused(409, "IDENTITY_TAKEN");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_verification_is_its_fans_alone_and_counts_for_an_hour() {
    let portone = Gateways::start().unwrap();
    let world = world_with(&portone).await;
    let (fan, thief) = (world.fan().await, world.fan().await);
    let id = start(&fan).await;
    prove(&fan, &id).await.refused(422, "IDENTITY_UNPROVEN");
    portone.pass_identity(&id, Some(CI), Some(DI));
    prove(&thief, &id).await.refused(422, "IDENTITY_UNPROVEN");
    prove(&fan, "of-another-house").await.refused(422, "IDENTITY_UNPROVEN");
    world.clock.advance(Duration::from_secs(50 * 60));
    let late = start(&fan).await;
    portone.pass_identity(&late, Some(CI), Some(DI));
    world.clock.advance(Duration::from_secs(9 * 60));
    prove(&fan, &id).await.expect(200);
    world.clock.advance(Duration::from_secs(51 * 60 + 1));
    // The access token predates the first verification, so the fan logs in again.
    let world_fan = world.again(&fan);
    prove(&world_fan, &late).await.refused(422, "IDENTITY_UNPROVEN");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_hundred_accounts_of_one_person_one_gets_a_place() {
    let portone = Gateways::start().unwrap();
    let world = world_with(&portone).await;
    let plan = Plan { max_active: 1, ..Plan::default() };
    let show = world.show(plan).await;
    let mut settings = plan.queue("AUTO");
    settings["identityRequired"] = json!(true);
    let queue = format!("/api/admin/schedules/{}/queue", show.schedule);
    world.organiser.put(&queue, &settings).await.expect(200);
    assert_eq!(world.organiser.get(&queue).await.expect(200)["identityRequired"], true);
    let fans = world.fans(100).await;
    fans[0].enter(&show).await.refused(403, "IDENTITY_REQUIRED");
    let proofs = join_all(fans.iter().map(|fan| prove_as(&portone, fan, Some(CI), Some(DI)))).await;
    assert_eq!(proofs.iter().filter(|answer| answer.status == 200).count(), 1);
    let entered = join_all(fans.iter().map(|fan| fan.enter(&show))).await;
    assert_eq!(entered.iter().filter(|answer| answer.status == 200).count(), 1);
    for answer in entered.iter().filter(|answer| answer.status != 200) {
        answer.refused(403, "IDENTITY_REQUIRED");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_withdrawn_person_can_be_certified_again_after_thirty_days() {
    let portone = Gateways::start().unwrap();
    let world = world_with(&portone).await;
    let (fan, again) = (world.fan().await, world.fan().await);
    prove_as(&portone, &fan, Some(CI), None).await.expect(200);
    let now = world.context().now();
    world.context().store.withdraw(fan.id, now).await.unwrap();
    let rests: Value =
        prove_as(&portone, &again, Some(CI), None).await.refused(409, "IDENTITY_RESTS");
    assert_eq!(rests["until"], json!(now.plus(ERASED_AFTER)));
    world.clock.advance(ERASED_AFTER + Duration::from_secs(1));
    let now = world.context().now();
    let store = &world.context().store;
    store.erase_withdrawn(now.minus(ERASED_AFTER), 10, now).await.unwrap();
    prove_as(&portone, &world.again(&again), Some(CI), None).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_certification_provider_the_api_reports_it() {
    let world = World::start().await;
    let fan = world.fan().await;
    let start = fan.api.post("/api/users/me/identity/start", &json!({})).await;
    start.refused(409, "IDENTITY_NOT_OFFERED");
    prove(&fan, "7").await.refused(409, "IDENTITY_NOT_OFFERED");
}
