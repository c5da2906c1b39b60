//! API keys: what they reach, how they end, and where their secret is.

use crate::identity::team::{id_of, limited};
use crate::support::client::{Api, text};
use crate::support::world::{Plan, World};
use podo_domain::identity::permissions::{Membership, TeamRole};
use serde_json::{Value, json};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn create(by: &Api, body: Value) -> Value {
    by.post("/api/admin/keys", &body).await.expect(201)
}

fn viewer(days: u32) -> Value {
    json!({ "name": "데이터 창고", "role": "VIEWER", "days": days })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_shown_once_and_found_by_its_prefix() {
    let world = World::start().await;
    let made = create(&world.organiser, viewer(90)).await;
    let key = text(&made, "key");
    assert!(key.starts_with("podo_live_") && key.len() == 53, "{key}");
    let listed = world.organiser.get("/api/admin/keys").await;
    let items = listed.expect(200);
    let prefix = text(&items["items"][0], "prefix");
    assert!(key.starts_with(&prefix) && prefix.len() < 20, "{prefix}");
    assert!(!listed.text.contains(&key), "{}", listed.text);
    world.stranger.with_token(&key).get("/api/admin/events").await.expect(200);
    // Neither the key nor its secret part is in the files of the store.
    let secret = key.trim_start_matches(&prefix).as_bytes().to_vec();
    for file in std::fs::read_dir(world.data()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap_or_default();
        let is_found = bytes.windows(secret.len()).any(|part| part == secret);
        assert!(!is_found, "the secret of a key is in the store");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_reaches_its_permissions_and_events_and_no_fan_routes() {
    let world = World::start().await;
    let (ours, theirs) = (world.show(Plan::default()).await, world.show(Plan::default()).await);
    let body = json!({ "name": "입장 단말", "role": "MANAGER", "events": [ours.event], "days": 1 });
    let key = world.stranger.with_token(&text(&create(&world.organiser, body).await, "key"));
    let path = |event: &str| format!("/api/admin/events/{event}");
    key.get(&path(&ours.event)).await.expect(200);
    key.get(&path(&theirs.event)).await.refused(404, "NOT_FOUND");
    key.get("/api/admin/users").await.refused(403, "PERMISSION_MISSING");
    let queue = format!("/api/admin/schedules/{}/queue", ours.schedule);
    key.put(&queue, &Plan::default().queue("PAUSED")).await.expect(200);
    for path in ["/api/users/me", "/api/tickets", "/api/wallet"] {
        key.get(path).await.refused(401, "LOGIN_REQUIRED");
    }
    // Calls that need a recent log-in need a person.
    let cancel = format!("/api/admin/events/{}/cancel", ours.event);
    key.post(&cancel, &json!({})).await.refused(403, "PERSON_REQUIRED");
    let audit = world.organiser.get("/api/admin/audit").await.expect(200);
    let entries = audit["items"].as_array().unwrap();
    let call = entries.iter().find(|it| text(it, "subject").ends_with("/queue")).unwrap();
    assert_eq!(
        (&call["actorKey"], &call["details"]["key"]),
        (&json!("입장 단말"), &json!("입장 단말"))
    );
    let change = entries.iter().find(|it| it["action"] == "queue.change");
    assert_eq!(change.map(|it| &it["actorKey"]), Some(&json!("입장 단말")), "{entries:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_may_read_files_but_gives_no_access() {
    let world = World::with(&[("PODO_ADMIN_PROOF_MINUTES", "0")]).await;
    let owner = json!({ "name": "전체", "role": "OWNER", "days": 1 });
    let key = world.stranger.with_token(&text(&create(&world.organiser, owner).await, "key"));
    key.get("/api/admin/payments?format=csv&reason=books").await.expect(200);
    let body = json!({ "name": "다음", "role": "VIEWER", "days": 1 });
    key.post("/api/admin/keys", &body).await.refused(403, "PERSON_REQUIRED");
    let body = json!({ "email": "friend@podo.kr", "role": "OWNER" });
    key.post("/api/admin/team/invitations", &body).await.refused(403, "PERSON_REQUIRED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_or_expired_key_ends_at_once() {
    let world = World::start().await;
    let (revoked, expiring) =
        (create(&world.organiser, viewer(2)).await, create(&world.organiser, viewer(1)).await);
    let call = async |made: &Value| {
        let key = world.stranger.with_token(&text(made, "key"));
        key.get("/api/admin/events").await
    };
    call(&revoked).await.expect(200);
    let path = format!("/api/admin/keys/{}", text(&revoked, "id"));
    world.organiser.delete(&path).await.expect(204);
    call(&revoked).await.refused(401, "LOGIN_REQUIRED");
    world.organiser.delete(&path).await.refused(404, "NOT_FOUND");
    call(&expiring).await.expect(200);
    world.clock.advance(DAY);
    call(&expiring).await.refused(401, "LOGIN_REQUIRED");
    let guessed = format!("podo_live_{}", "A".repeat(43));
    let guess = world.stranger.with_token(&guessed);
    guess.get("/api/admin/events").await.refused(401, "LOGIN_REQUIRED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_never_does_more_than_its_creator_may_still_do() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let creator = world.member(Membership::preset(TeamRole::Owner)).await;
    let made = create(&creator, viewer(30)).await;
    let key = world.stranger.with_token(&text(&made, "key"));
    key.get("/api/admin/users").await.expect(200);
    let path = format!("/api/admin/team/{}", id_of(&creator).await);
    let gate = json!({ "role": "GATE", "events": [show.event] });
    world.organiser.put(&path, &gate).await.expect(204);
    key.get("/api/admin/users").await.refused(403, "PERMISSION_MISSING");
    world.organiser.delete(&path).await.expect(204);
    key.get("/api/admin/users").await.refused(401, "LOGIN_REQUIRED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_has_the_rate_limit_of_an_account() {
    let settings = [("PODO_LIMITS", "on"), ("PODO_REQUESTS_PER_MINUTE_PER_USER", "5")];
    let world = World::with(&settings).await;
    let made = create(&world.organiser, viewer(1)).await;
    let key = world.stranger.with_token(&text(&made, "key"));
    let mut statuses = Vec::new();
    for _ in 0..8 {
        statuses.push(key.get("/api/admin/events").await.status);
    }
    assert_eq!(statuses[0], 200, "{statuses:?}");
    assert_eq!(statuses.last(), Some(&429), "{statuses:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_choice_creates_no_key() {
    let world = World::start().await;
    for body in [
        json!({ "name": "x", "role": "VIEWER", "days": 0 }),
        json!({ "name": "x", "role": "VIEWER", "days": 367 }),
        json!({ "name": "", "role": "VIEWER", "days": 1 }),
        json!({ "name": "x", "role": "CUSTOM", "days": 1 }),
        json!({ "name": "x", "role": "GATE", "events": [], "days": 1 }),
        json!({ "name": "x", "role": "GATE", "permissions": ["OPERATE"], "days": 1 }),
    ] {
        world.organiser.post("/api/admin/keys", &body).await.refused(422, "INVALID");
    }
    let show = world.show(Plan::default()).await;
    let limited = world.member(limited(TeamRole::Manager, &show)).await;
    limited.post("/api/admin/keys", &viewer(1)).await.refused(403, "PERMISSION_MISSING");
}
