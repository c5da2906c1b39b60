//! Second factors for organisers, and read-only organisers.

use crate::support::client::{Answer, Api, text};
use crate::support::world::{Plan, World};
use podo_app::identity::totp;
use serde_json::{Value, json};
use std::time::Duration;

const PASSWORD: &str = "sour green grapes";
const BOSS: [(&str, &str); 2] =
    [("PODO_ADMIN_EMAIL", "boss@podo.kr"), ("PODO_ADMIN_PASSWORD", PASSWORD)];

async fn log_in(world: &World, code: Option<&str>) -> Answer {
    let mut body = json!({ "email": "boss@podo.kr", "password": PASSWORD });
    if let Some(code) = code {
        body["code"] = json!(code);
    }
    world.stranger.post("/api/auth/login", &body).await
}

fn api(world: &World, session: &Value) -> Api {
    world.stranger.with_token(&text(session, "accessToken"))
}

fn code(world: &World, secret: &str) -> String {
    totp::code_now(&totp::from_base32(secret).unwrap(), world.context().now())
}

/// Adds a second factor to an account; returns its secret.
async fn begin(world: &World, boss: &Api) -> String {
    let wrong = json!({ "password": "sweet red grapes" });
    boss.post("/api/users/me/totp", &wrong).await.refused(403, "PASSWORD_WRONG");
    let begun = boss.post("/api/users/me/totp", &json!({ "password": PASSWORD })).await.expect(201);
    let secret = text(&begun, "secret");
    assert!(text(&begun, "uri").contains(&format!("secret={secret}")), "{begun}");
    let confirm =
        async |code: &str| boss.post("/api/users/me/totp/confirm", &json!({ "code": code })).await;
    confirm("000000").await.refused(401, "CODE_WRONG");
    confirm(&code(world, &secret)).await.expect(204);
    secret
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_second_factor_every_log_in_needs_a_code_that_counts_once() {
    let world = World::with(&BOSS).await;
    // A code is valid for half a minute, which may end at any moment.
    world.clock.stop_at(world.context().now());
    let elsewhere = log_in(&world, None).await.expect(200);
    let session = log_in(&world, None).await.expect(200);
    assert_eq!(session["user"]["secondFactor"], false);
    let boss = api(&world, &session);
    let secret = begin(&world, &boss).await;
    let me = api(&world, &elsewhere).get("/api/users/me").await;
    me.refused(401, "LOGIN_REQUIRED");
    log_in(&world, None).await.refused(401, "CODE_REQUIRED");
    let used = code(&world, &secret);
    log_in(&world, Some(&used)).await.refused(401, "CODE_WRONG");
    world.clock.advance(Duration::from_secs(30));
    let next = code(&world, &secret);
    let session = log_in(&world, Some(&next)).await.expect(200);
    assert_eq!(session["user"]["secondFactor"], true);
    log_in(&world, Some(&next)).await.refused(401, "CODE_WRONG");
    let again = boss.post("/api/users/me/totp", &json!({ "password": PASSWORD })).await;
    again.refused(409, "CODE_ON");
    world.clock.advance(Duration::from_secs(30));
    let body = json!({ "password": PASSWORD, "code": code(&world, &secret) });
    let call = boss.call(reqwest::Method::DELETE, "/api/users/me/totp").json(&body);
    crate::support::client::send(call).await.expect(204);
    log_in(&world, None).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_codes_are_asked_of_organisers_one_without_is_a_fan() {
    let settings = [BOSS[0], BOSS[1], ("PODO_ADMIN_CODES", "on")];
    let world = World::with(&settings).await;
    let session = log_in(&world, None).await.expect(200);
    let boss = api(&world, &session);
    boss.get("/api/admin/events").await.refused(403, "ADMIN_ONLY");
    begin(&world, &boss).await;
    boss.get("/api/admin/events").await.refused(403, "ADMIN_ONLY");
    let body = json!({ "refreshToken": text(&session, "refreshToken") });
    let session = world.stranger.post("/api/auth/refresh", &body).await.expect(200);
    api(&world, &session).get("/api/admin/events").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn staff_may_look_and_not_touch() {
    let world = World::with(&BOSS).await;
    let show = world.show(Plan::default()).await;
    let session = log_in(&world, None).await.expect(200);
    let id = text(&session["user"], "id");
    let role = format!("/api/admin/users/{id}/role");
    let boss = api(&world, &session);
    boss.put(&role, &json!({ "role": "STAFF" })).await.refused(409, "OWN_ROLE");
    world.organiser.put(&role, &json!({ "role": "STAFF" })).await.expect(204);
    boss.get("/api/admin/events").await.refused(401, "LOGIN_REQUIRED");
    let session = log_in(&world, None).await.expect(200);
    assert_eq!(session["user"]["role"], "STAFF");
    let staff = api(&world, &session);
    staff.get("/api/admin/events").await.expect(200);
    staff.get("/api/admin/audit").await.expect(200);
    let queue = format!("/api/admin/schedules/{}/queue", show.schedule);
    staff.put(&queue, &Plan::default().queue("PAUSED")).await.refused(403, "PERMISSION_MISSING");
    staff.put(&role, &json!({ "role": "ADMIN" })).await.refused(403, "PERMISSION_MISSING");
    world.organiser.put(&role, &json!({ "role": "USER" })).await.expect(204);
    let session = log_in(&world, None).await.expect(200);
    api(&world, &session).get("/api/admin/events").await.refused(403, "ADMIN_ONLY");
    let not_an_account = format!("/api/admin/users/{}/role", show.event);
    world
        .organiser
        .put(&not_an_account, &json!({ "role": "USER" }))
        .await
        .refused(404, "NOT_FOUND");
}
