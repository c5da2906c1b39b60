//! Who is a member of a phase: the organiser's server says it, or a list that has verified identities.

use crate::booking::phases::{my_phases, presale, upload, verify};
use crate::identity::certification::{CI, prove_as, world_with};
use crate::messaging::messages::is_signed;
use crate::support::client::{send, text};
use crate::support::world::World;
use aws_lc_rs::digest::{SHA256, digest};
use podo_testbed::{Gateways, PostBox, Received};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The address of a phase's webhook.
fn address(phase: &str) -> String {
    format!("/api/admin/phases/{phase}/member-webhook")
}

async fn world() -> World {
    World::with(&[("PODO_WEBHOOK_ALLOW", "127.0.0.0/8")]).await
}

/// Sets the organiser's server; returns the secret.
async fn set(world: &World, phase: &str, theirs: &PostBox) -> String {
    let body = json!({ "url": format!("{}/member", theirs.url()) });
    text(&world.organiser.put(&address(phase), &body).await.expect(200), "secret")
}

fn data(received: &Received) -> Value {
    let question: Value = serde_json::from_str(&received.body).unwrap();
    assert_eq!(question["type"], "MembershipAsked");
    question["data"].clone()
}

fn signed_with(secret: &str, received: &Received) -> bool {
    let [id, at, signatures] =
        ["webhook-id", "webhook-timestamp", "webhook-signature"].map(|name| received.header(name));
    let signed = format!("{id}.{at}.{}", received.body);
    signatures.split(' ').any(|signature| is_signed(secret, &signed, signature))
}

/// Knows P-1 with the address kim@podo.example, as a shop of a fan club would.
fn fan_club(received: &Received) -> (u16, String) {
    let asked = data(received);
    let is_kim = asked["membershipNumber"] == "P-1" || asked["email"] == "kim@podo.example";
    let answer = match is_kim {
        true => json!({ "eligible": true, "membershipNumber": "P-1" }),
        false => json!({ "eligible": false }),
    };
    (200, answer.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_organisers_server_says_who_is_a_member_and_one_membership_serves_one_account() {
    let theirs = PostBox::start(fan_club).unwrap();
    let world = world().await;
    let (show, [first, second]) = presale(&world, "MEMBERS").await;
    let secret = set(&world, &first, &theirs).await;
    assert!(secret.starts_with("whsec_"));
    let list = "email,name\nlisted@podo.example,이포도\n";
    upload(&world, &first, list.as_bytes().to_vec()).await.expect(200);
    let (mut fan, other) = (world.fan().await, world.fan().await);

    let stranger = json!({ "membershipNumber": "P-2", "name": "박포도" });
    verify(&fan, &first, &stranger).await.refused(422, "MEMBER_UNKNOWN");
    fan.enter(&show).await.refused(403, "NOT_ELIGIBLE");
    let listed = json!({ "email": "listed@podo.example", "name": "이포도" });
    verify(&fan, &first, &listed).await.refused(422, "MEMBER_UNKNOWN");
    let kim = json!({ "membershipNumber": "P-1", "name": "김포도" });
    verify(&fan, &first, &kim).await.expect(200);
    let asked = theirs.received();
    assert_eq!(asked.len(), 3);
    assert!(asked.iter().all(|it| signed_with(&secret, it)), "{asked:?}");
    let expected = json!({ "eventScheduleId": show.schedule, "phaseId": first,
        "membershipNumber": "P-1", "name": "김포도" });
    assert_eq!(data(&asked[2]), expected, "what the fan typed, and nothing of the account");

    // A verified fan isn't asked about again; the same membership by its address is taken.
    verify(&fan, &first, &kim).await.expect(200);
    assert_eq!(theirs.received().len(), 3);
    let same = json!({ "email": "kim@podo.example", "name": "김포도" });
    verify(&other, &first, &same).await.refused(409, "MEMBER_TAKEN");
    assert_eq!(my_phases(&fan, &show).await[0]["eligible"], true);

    let path = format!("/api/admin/schedules/{}/phases", show.schedule);
    let shown = world.organiser.get(&path).await.expect(200)["items"][0].take();
    let url = format!("{}/member", theirs.url());
    assert_eq!(shown["memberWebhook"], json!({ "url": url }), "the secret is shown once");
    let rotate = format!("{}/secret", address(&first));
    let rotated = world.organiser.post(&rotate, &json!({})).await.expect(200);
    let body = json!({ "membershipNumber": "P-3", "name": "박포도" });
    verify(&other, &first, &body).await.refused(422, "MEMBER_UNKNOWN");
    let last = theirs.received().pop().unwrap();
    assert!(signed_with(&secret, &last) && signed_with(&text(&rotated, "secret"), &last));

    // Without the webhook the list decides again.
    world.organiser.delete(&address(&first)).await.expect(204);
    world.organiser.delete(&address(&first)).await.refused(409, "NO_MEMBER_WEBHOOK");
    world.organiser.post(&rotate, &json!({})).await.refused(409, "NO_MEMBER_WEBHOOK");
    verify(&other, &first, &listed).await.expect(200);
    let wrong = world.organiser.put(&address(&second), &json!({ "url": url })).await;
    assert_eq!(wrong.refused(422, "INVALID_PHASE")["errors"][0]["field"], "audience");
    world.clock.advance(Duration::from_secs(60));
    fan.go_inside(&show).await;
    fan.hold(&show, &[0]).await;
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_clear_answer_makes_a_fan_eligible() {
    for (status, body) in [
        (500, r#"{"eligible":true}"#),
        (302, r#"{"eligible":true}"#),
        (200, "yes"),
        (200, r#"{"eligible":"true"}"#),
        (204, ""),
    ] {
        let theirs = PostBox::start(move |_| (status, body.to_owned())).unwrap();
        let world = world().await;
        let (show, [first, _]) = presale(&world, "MEMBERS").await;
        set(&world, &first, &theirs).await;
        let fan = world.fan().await;
        let kim = json!({ "membershipNumber": "P-1", "name": "김포도" });
        let refused = verify(&fan, &first, &kim).await;
        assert_eq!(refused.header("retry-after"), "10", "{status} {body}");
        refused.refused(503, "MEMBERSHIP_UNANSWERED");
        assert_eq!(my_phases(&fan, &show).await[0]["missing"], "MEMBERSHIP");
        world.finish().await;
    }
}

/// The first answer comes too late, the second is too long, and nothing listens for the third.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_or_endless_server_holds_a_fan_for_seconds_only() {
    let slow = PostBox::start(|_| {
        std::thread::sleep(Duration::from_secs(20));
        (200, json!({ "eligible": true }).to_string())
    });
    let long = PostBox::start(|_| {
        (200, json!({ "eligible": true, "more": "x".repeat(5_000) }).to_string())
    });
    let (slow, long) = (slow.unwrap(), long.unwrap());
    let world = world().await;
    let (_, [first, _]) = presale(&world, "MEMBERS").await;
    let fan = world.fan().await;
    let kim = json!({ "membershipNumber": "P-1", "name": "김포도" });
    let began = Instant::now();
    let urls = [slow.url(), long.url(), "http://127.0.0.1:1".to_owned()];
    for url in urls {
        world.organiser.put(&address(&first), &json!({ "url": url })).await.expect(200);
        verify(&fan, &first, &kim).await.refused(503, "MEMBERSHIP_UNANSWERED");
    }
    let took = began.elapsed();
    assert!(took < Duration::from_secs(15), "{took:?}");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_are_limited_for_each_fan() {
    let theirs = PostBox::start(fan_club).unwrap();
    let settings = [("PODO_WEBHOOK_ALLOW", "127.0.0.0/8"), ("PODO_LIMITS", "on")];
    let world = World::with(&settings).await;
    let (_, [first, _]) = presale(&world, "MEMBERS").await;
    set(&world, &first, &theirs).await;
    let fan = world.fan().await;
    let guess = json!({ "membershipNumber": "P-7", "name": "박포도" });
    for _ in 0..10 {
        verify(&fan, &first, &guess).await.refused(422, "MEMBER_UNKNOWN");
    }
    verify(&fan, &first, &guess).await.refused(429, "TOO_MANY_REQUESTS");
    assert_eq!(theirs.received().len(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_inside_our_network_is_refused() {
    let world = World::start().await;
    let (show, [first, _]) = presale(&world, "MEMBERS").await;
    for url in ["http://127.0.0.1:1/", "https://169.254.169.254/latest", "https://[::1]/"] {
        let refused = world.organiser.put(&address(&first), &json!({ "url": url })).await;
        refused.refused(422, "WEBHOOK_URL_REFUSED");
    }
    let unknown = address(&show.schedule.phase(77).to_string());
    let body = json!({ "url": "https://podo.example/" });
    world.organiser.put(&unknown, &body).await.refused(404, "NOT_FOUND");
    let fan = world.fan().await;
    let call = fan.api.call(Method::PUT, &address(&first)).json(&body);
    send(call).await.refused(403, "ADMIN_ONLY");
}

/// SHA-256 of a CI, as a fan club would send it.
fn hash_of(ci: &str) -> String {
    digest(&SHA256, ci.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02X}")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_with_a_verified_identity_types_nothing() {
    let portone = Gateways::start().unwrap();
    let world = world_with(&portone).await;
    let (show, [first, _]) = presale(&world, "MEMBERS").await;
    let (mut fan, other, unlisted) = (world.fan().await, world.fan().await, world.fan().await);
    prove_as(&portone, &fan, Some(CI), None).await.expect(200);
    prove_as(&portone, &unlisted, Some("another person"), None).await.expect(200);
    assert_eq!(my_phases(&fan, &show).await[0]["missing"], "MEMBERSHIP", "there is no list yet");

    let csv = format!("ciHash,membershipNumber,name\n{},P-1,김포도\nabc,,\n", hash_of(CI));
    let view = upload(&world, &first, csv.into_bytes()).await.expect(200);
    assert_eq!((&view["added"], &view["wrong"]), (&json!(1), &json!(1)));
    let problem = json!({ "line": 3, "field": "ciHash", "problem": "not_a_hash" });
    assert_eq!(view["problems"], json!([problem]));

    assert_eq!(my_phases(&fan, &show).await[0]["eligible"], true);
    assert_eq!(my_phases(&unlisted, &show).await[0]["missing"], "MEMBERSHIP");
    unlisted.enter(&show).await.refused(403, "NOT_ELIGIBLE");
    verify(&unlisted, &first, &json!({})).await.refused(422, "WRONG_PHASE_PROOF");
    fan.enter(&show).await.expect(200);
    // The identity and the number are one membership.
    let number = json!({ "membershipNumber": "P-1", "name": "김포도" });
    verify(&other, &first, &number).await.refused(409, "MEMBER_TAKEN");
    world.clock.advance(Duration::from_secs(60));
    fan.go_inside(&show).await;
    fan.hold(&show, &[0]).await;
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_membership_that_another_account_used_is_no_proof() {
    let portone = Gateways::start().unwrap();
    let world = world_with(&portone).await;
    let (show, [first, _]) = presale(&world, "MEMBERS").await;
    let csv = format!("ciHash,membershipNumber,name\n{},P-1,김포도\n", hash_of(CI));
    upload(&world, &first, csv.into_bytes()).await.expect(200);
    let (fan, other) = (world.fan().await, world.fan().await);
    let number = json!({ "membershipNumber": "P-1", "name": "김포도" });
    verify(&other, &first, &number).await.expect(200);
    prove_as(&portone, &fan, Some(CI), None).await.expect(200);
    assert_eq!(my_phases(&fan, &show).await[0]["missing"], "MEMBERSHIP");
    fan.enter(&show).await.refused(403, "NOT_ELIGIBLE");
    world.finish().await;
}
