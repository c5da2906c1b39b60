//! The fan's own account: change, read, protect, delete.

use crate::support::client::{Answer, Api, send, text};
use crate::support::fan::Fan;
use crate::support::world::{PRICE, Plan, World};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

const PASSWORD: &str = "sour green grapes";
const EMAIL: &str = "fan@podo.kr";

async fn sign_up(world: &World) {
    let body =
        json!({ "email": EMAIL, "password": PASSWORD, "name": "포도", "phone": "010-1234-5678" });
    world.stranger.post("/api/auth/signup", &body).await.expect(201);
}

async fn try_log_in(world: &World, password: &str) -> Answer {
    let body = json!({ "email": EMAIL, "password": password });
    world.stranger.post("/api/auth/login", &body).await
}

async fn log_in(world: &World) -> (Api, Value) {
    let session = try_log_in(world, PASSWORD).await.expect(200);
    (world.stranger.with_token(&text(&session, "accessToken")), session)
}

async fn patch(api: &Api, body: Value) -> Answer {
    send(api.call(Method::PATCH, "/api/users/me").json(&body)).await
}

async fn withdraw(api: &Api, password: &str) -> Answer {
    let body = json!({ "password": password });
    send(api.call(Method::DELETE, "/api/users/me").json(&body)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_is_changed_field_by_field() {
    let world = World::start().await;
    sign_up(&world).await;
    let (fan, _) = log_in(&world).await;
    assert_eq!(fan.get("/api/users/me").await.expect(200)["phone"], "+821012345678");
    let renamed = patch(&fan, json!({ "name": "청포도" })).await.expect(200);
    assert_eq!((&renamed["name"], &renamed["phone"]), (&json!("청포도"), &json!("+821012345678")));
    let without = patch(&fan, json!({ "phone": null })).await.expect(200);
    assert_eq!((&without["name"], without.get("phone")), (&json!("청포도"), None));
    patch(&fan, json!({ "phone": "call me" })).await.refused(422, "INVALID");
    patch(&fan, json!({ "role": "ADMIN" })).await.refused(422, "INVALID");
    assert_eq!(fan.get("/api/users/me").await.expect(200), without);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_password_ends_every_other_session_at_once() {
    let world = World::start().await;
    sign_up(&world).await;
    let ((fan, _), (thief, stolen)) = (log_in(&world).await, log_in(&world).await);
    let change = async |current: &str, new: &str| {
        let body = json!({ "currentPassword": current, "newPassword": new });
        fan.post("/api/users/me/password", &body).await
    };
    change("sweet red grapes", "sweet red grapes").await.refused(403, "PASSWORD_WRONG");
    change(PASSWORD, "password").await.refused(422, "INVALID");
    thief.get("/api/users/me").await.expect(200);
    change(PASSWORD, "sweet red grapes").await.expect(204);
    thief.get("/api/users/me").await.refused(401, "LOGIN_REQUIRED");
    let body = json!({ "refreshToken": text(&stolen, "refreshToken") });
    world.stranger.post("/api/auth/refresh", &body).await.refused(401, "REFRESH_INVALID");
    fan.get("/api/users/me").await.expect(200);
    try_log_in(&world, PASSWORD).await.refused(401, "LOGIN_FAILED");
    try_log_in(&world, "sweet red grapes").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_listed_and_ended_one_by_one() {
    let world = World::start().await;
    sign_up(&world).await;
    let ((first, _), (second, _)) = (log_in(&world).await, log_in(&world).await);
    let listed = first.get("/api/users/me/sessions").await.expect(200);
    let sessions = listed["items"].as_array().unwrap();
    assert_eq!(sessions.len(), 2);
    assert_eq!(sessions.iter().filter(|session| session["current"] == true).count(), 1);
    assert!(sessions.iter().all(|session| session["ip"] == "127.0.0.1"), "{listed}");
    let other = sessions.iter().find(|session| session["current"] == false).unwrap();
    let path = format!("/api/users/me/sessions/{}", text(other, "id"));
    let stranger = world.fan().await;
    stranger.api.delete(&path).await.refused(404, "NOT_FOUND");
    second.get("/api/users/me").await.expect(200);
    first.delete(&path).await.expect(204);
    second.get("/api/users/me").await.refused(401, "LOGIN_REQUIRED");
    first.delete(&path).await.refused(404, "NOT_FOUND");
    first.get("/api/users/me").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn log_ins_are_remembered_newest_first() {
    let world = World::start().await;
    sign_up(&world).await;
    try_log_in(&world, "sweet red grapes").await.refused(401, "LOGIN_FAILED");
    let (fan, _) = log_in(&world).await;
    let first = fan.get("/api/users/me/logins?limit=1").await.expect(200);
    assert_eq!(first["items"][0]["success"], true);
    let cursor = text(&first, "nextCursor");
    let path = format!("/api/users/me/logins?limit=1&cursor={cursor}");
    let second = fan.get(&path).await.expect(200);
    assert_eq!(second["items"][0]["reason"], "PASSWORD");
    assert_eq!(second.get("nextCursor"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_is_given_up_when_nothing_is_left_in_it() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    sign_up(&world).await;
    let (api, session) = log_in(&world).await;
    let mut fan = Fan { id: text(&session["user"], "id").parse().unwrap(), api };
    fan.charge(PRICE).await;
    withdraw(&fan.api, "sweet red grapes").await.refused(403, "PASSWORD_WRONG");
    withdraw(&fan.api, PASSWORD).await.refused(409, "WALLET_NOT_EMPTY");
    fan.go_inside(&show).await;
    let reservation = fan.hold(&show, &[0]).await;
    let payment = fan.ready(&reservation, "WALLET").await;
    fan.confirm(&payment).await.expect(200);
    withdraw(&fan.api, PASSWORD).await.refused(409, "TICKETS_LEFT");
    world.clock.advance(Duration::from_secs(40 * 24 * 60 * 60));
    let (api, _) = log_in(&world).await;
    withdraw(&api, PASSWORD).await.expect(204);
    api.get("/api/users/me").await.refused(401, "LOGIN_REQUIRED");
    try_log_in(&world, PASSWORD).await.refused(401, "LOGIN_FAILED");
    sign_up(&world).await;
    log_in(&world).await;
    world.finish().await;
}

/// Limits are on, but not by address, because all calls share one.
const LIMITED: [(&str, &str); 2] =
    [("PODO_LIMITS", "on"), ("PODO_REQUESTS_PER_SECOND_PER_IP", "100000")];

#[tokio::test(flavor = "multi_thread")]
async fn guessing_gets_slow_and_the_owner_still_gets_in() {
    let world = World::with(&LIMITED).await;
    sign_up(&world).await;
    let mut n_tried = 0;
    for guess in 0..40 {
        let answer = try_log_in(&world, &format!("a wrong guess {guess}")).await;
        match answer.status {
            401 => n_tried += 1,
            _ => {
                answer.refused(429, "TOO_MANY_REQUESTS");
                let wait: u64 = answer.header("retry-after").parse().unwrap();
                assert!((1..=60).contains(&wait), "{wait}");
            }
        }
    }
    assert!((10..=20).contains(&n_tried), "{n_tried} guesses were looked at");
    world.clock.advance(Duration::from_secs(15 * 60));
    try_log_in(&world, PASSWORD).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_herd_of_guesses_is_stopped_too() {
    let world = World::with(&LIMITED).await;
    sign_up(&world).await;
    // Below the limit of connections per address.
    let guesses = (0..150).map(|guess| format!("a wrong guess {guess}"));
    let answers = guesses.map(|guess| {
        let world = &world;
        async move { try_log_in(world, &guess).await.status }
    });
    let answers = futures::future::join_all(answers).await;
    let n_tried = answers.iter().filter(|status| **status == 401).count();
    assert!(n_tried <= 20, "{n_tried} guesses were looked at");
    assert!(answers.iter().all(|status| [401, 429, 503].contains(status)), "{answers:?}");
}
