//! Sessions: request ids, organisers' idle timeout, step-up before money moves, sign-ups confirmed
//! by e-mail.

use crate::support::client::{Answer, Api, send, text};
use crate::support::world::{Plan, World, until};
use podo_app::identity::totp;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

const PASSWORD: &str = "sour green grapes";
const BOSS: [(&str, &str); 2] =
    [("PODO_ADMIN_EMAIL", "boss@podo.kr"), ("PODO_ADMIN_PASSWORD", PASSWORD)];
const MINUTE: Duration = Duration::from_secs(60);

async fn log_in(world: &World) -> Value {
    let body = json!({ "email": "boss@podo.kr", "password": PASSWORD });
    world.stranger.post("/api/auth/login", &body).await.expect(200)
}

async fn refresh(world: &World, session: &Value) -> Answer {
    let body = json!({ "refreshToken": text(session, "refreshToken") });
    world.stranger.post("/api/auth/refresh", &body).await
}

fn api(world: &World, session: &Value) -> Api {
    world.stranger.with_token(&text(session, "accessToken"))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_names_its_request() {
    let world = World::start().await;
    let show = world.show(Plan { max_active: 1, ..Plan::default() }).await;
    let _inside = world.fan_inside(&show).await;
    let fan = world.fan().await;
    let token = text(&fan.enter(&show).await.expect(200), "token");
    let poll = format!("/api/queue/status?scheduleId={}", show.schedule);
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let parent = format!("00-{trace}-b7ad6b7169203331-01");
    let paths = [poll.as_str(), "/livez", "/", "/api/events", "/api/wallet", "/no/such/page"];
    let mut seen = std::collections::HashSet::new();
    for path in paths {
        let call = || world.stranger.call(Method::GET, path).header("Queue-Token", &token);
        let id = |answer: &Answer| answer.header("x-request-id").to_owned();
        let (one, two) = (send(call()).await, send(call()).await);
        assert_eq!(id(&one).len(), 32, "{path}");
        assert!(seen.insert(id(&one)) && seen.insert(id(&two)), "{path}: twice the same");
        let traced = send(call().header("traceparent", &parent)).await;
        assert_eq!(id(&traced), trace, "{path}");
        let named = send(call().header("X-Request-Id", "my-own.1")).await;
        assert_eq!(id(&named), "my-own.1", "{path}");
        if let Some(told) =
            serde_json::from_str::<Value>(&traced.text).ok().filter(|_| traced.status > 399)
        {
            assert_eq!(told["traceId"], trace, "{path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_organiser_who_was_away_logs_in_again_and_a_fan_does_not() {
    let world = World::with(&BOSS).await;
    let session = log_in(&world).await;
    assert_eq!(session["expiresIn"], 5 * 60);
    // An active organiser stays logged in: each token is renewed when it expires.
    let mut session = session;
    for _ in 0..6 {
        api(&world, &session).get("/api/admin/events").await.expect(200);
        world.clock.advance(5 * MINUTE);
        api(&world, &session).get("/api/admin/events").await.refused(401, "LOGIN_REQUIRED");
        session = refresh(&world, &session).await.expect(200);
    }
    world.clock.advance(15 * MINUTE);
    refresh(&world, &session).await.refused(401, "SESSION_IDLE");
    refresh(&world, &session).await.refused(401, "REFRESH_INVALID");
    // The control: a fan may be away for days.
    let body = json!({ "email": "fan@podo.kr", "password": PASSWORD, "name": "포도" });
    world.stranger.post("/api/auth/signup", &body).await.expect(201);
    let body = json!({ "email": "fan@podo.kr", "password": PASSWORD });
    let fan = world.stranger.post("/api/auth/login", &body).await.expect(200);
    assert_eq!(fan["expiresIn"], 60 * 60);
    world.clock.advance(60 * 24 * MINUTE);
    refresh(&world, &fan).await.expect(200);
}

/// Calls that need a recent login, each with an unknown id.
fn weighty(api: &Api) -> Vec<reqwest::RequestBuilder> {
    let unknown_id = "0190a000-0000-7000-8000-000000000000";
    let post = |path: String, body: Value| {
        api.call(Method::POST, &path).header("Idempotency-Key", "k").json(&body)
    };
    vec![
        post(format!("/api/admin/payments/{unknown_id}/refund"), json!({ "reason": "rain" })),
        post(
            format!("/api/admin/payments/{unknown_id}/resolve"),
            json!({ "verdict": "CAPTURED", "evidence": "their page" }),
        ),
        post(
            format!("/api/admin/payments/{unknown_id}/refunds/{unknown_id}/resolve"),
            json!({ "evidence": "their page" }),
        ),
        post(
            format!("/api/admin/users/{unknown_id}/wallet"),
            json!({ "amount": 1, "reason": "a gift" }),
        ),
        post(format!("/api/admin/events/{unknown_id}/cancel"), json!({})),
        post(format!("/api/admin/schedules/{unknown_id}/cancel"), json!({})),
        api.call(Method::PUT, &format!("/api/admin/users/{unknown_id}/role"))
            .json(&json!({ "role": "STAFF" })),
        api.call(Method::GET, "/api/admin/users?format=csv&reason=an+audit"),
    ]
}

async fn all_ask_for_a_proof(api: &Api) {
    for call in weighty(api) {
        send(call).await.refused(403, "REAUTH_REQUIRED");
    }
}

async fn none_asks_for_a_proof(api: &Api) {
    for call in weighty(api) {
        let answer = send(call).await;
        assert!([200, 404].contains(&answer.status), "{}", answer.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn money_moves_only_for_who_showed_a_moment_ago_who_they_are() {
    let settings = [BOSS[0], BOSS[1], ("PODO_ADMIN_PROOF_MINUTES", "10")];
    let world = World::with(&settings).await;
    let mut session = log_in(&world).await;
    none_asks_for_a_proof(&api(&world, &session)).await;
    for _ in 0..2 {
        world.clock.advance(5 * MINUTE);
        session = refresh(&world, &session).await.expect(200);
    }
    let boss = api(&world, &session);
    all_ask_for_a_proof(&boss).await;
    boss.get("/api/admin/events").await.expect(200);
    let reauth = async |api: &Api, body: Value| api.post("/api/auth/reauth", &body).await;
    let wrong = json!({ "password": "sweet red grapes" });
    reauth(&boss, wrong).await.refused(403, "PASSWORD_WRONG");
    reauth(&boss, json!({})).await.refused(403, "PASSWORD_WRONG");
    all_ask_for_a_proof(&boss).await;
    reauth(&boss, json!({ "password": PASSWORD })).await.expect(204);
    none_asks_for_a_proof(&boss).await;
    // A step-up survives a refresh and expires by time.
    world.clock.advance(5 * MINUTE);
    session = refresh(&world, &session).await.expect(200);
    let boss = api(&world, &session);
    none_asks_for_a_proof(&boss).await;
    // With a second factor, only the code counts.
    let begun = boss.post("/api/users/me/totp", &json!({ "password": PASSWORD })).await.expect(201);
    let secret = totp::from_base32(&text(&begun, "secret")).unwrap();
    let code = || totp::code_now(&secret, world.context().now());
    boss.post("/api/users/me/totp/confirm", &json!({ "code": code() })).await.expect(204);
    world.clock.advance(5 * MINUTE);
    session = refresh(&world, &session).await.expect(200);
    let boss = api(&world, &session);
    all_ask_for_a_proof(&boss).await;
    reauth(&boss, json!({ "password": PASSWORD })).await.refused(401, "CODE_REQUIRED");
    let digits = code();
    reauth(&boss, json!({ "code": digits })).await.expect(204);
    reauth(&boss, json!({ "code": digits })).await.refused(401, "CODE_WRONG");
    none_asks_for_a_proof(&boss).await;
}

async fn ask(world: &World, email: &str) -> Answer {
    let body = json!({ "email": email, "password": PASSWORD, "name": "포도" });
    let call = world.stranger.call(Method::POST, "/api/auth/signup").json(&body);
    send(call.header("Accept-Language", "en")).await
}

async fn confirm(world: &World, asked: &Value, code: &str) -> Answer {
    let body = json!({ "signUpId": asked["signUpId"], "code": code });
    world.stranger.post("/api/auth/signup/confirm", &body).await
}

/// The latest notification with this subject, once there are this many.
pub(crate) async fn notification(world: &World, subject: &str, n_notifications: usize) -> String {
    until(subject, async || {
        let mailbox = world.organiser.get("/api/admin/mailbox").await.expect(200);
        let notifications = mailbox["items"].as_array().unwrap().clone();
        let mut found = notifications.iter().filter(|it| it["subject"] == subject);
        let newest = found.next().map(|it| text(it, "body"));
        newest.filter(|_| found.count() + 1 == n_notifications)
    })
    .await
}

/// The six digits in a notification.
pub(crate) fn code_in(text: &str) -> String {
    let digits = text.split(|it: char| !it.is_ascii_digit());
    digits.into_iter().find(|part| part.len() == 6).expect("a code").to_owned()
}

/// What a client can observe of a response, without what is new in each.
fn shape(answer: &Answer) -> (u16, Vec<String>, Vec<String>) {
    let body = answer.expect(202);
    let fields = body.as_object().unwrap().keys().cloned().collect();
    let mut headers: Vec<String> = answer.headers.keys().map(|it| it.to_string()).collect();
    headers.sort();
    (answer.status, headers, fields)
}

const CODE_SUBJECT: &str = "Your code for Podo";

#[tokio::test(flavor = "multi_thread")]
async fn sign_up_does_not_reveal_whether_an_address_is_taken() {
    let world = World::with(&[("PODO_CONFIRM_EMAIL", "on")]).await;
    let first = ask(&world, "fan@podo.kr").await;
    let asked = first.expect(202);
    let body = json!({ "email": "fan@podo.kr", "password": PASSWORD });
    let log_in = async || world.stranger.post("/api/auth/login", &body).await;
    log_in().await.refused(401, "LOGIN_FAILED");
    let code = code_in(&notification(&world, CODE_SUBJECT, 1).await);
    confirm(&world, &asked, "abcdef").await.refused(401, "CODE_WRONG");
    let made = confirm(&world, &asked, &code).await.expect(201);
    assert_eq!(made["userId"], asked["signUpId"]);
    confirm(&world, &asked, &code).await.refused(401, "CODE_WRONG");
    log_in().await.expect(200);
    // Now the address is taken: the response is the same, and the owner gets an e-mail without a
    // code.
    let again = ask(&world, " Fan@Podo.kr").await;
    assert_eq!(shape(&first), shape(&again));
    notification(&world, "이미 가입하셨어요", 1).await;
    let asked = again.expect(202);
    for number in 0..20 {
        confirm(&world, &asked, &format!("{number:06}")).await.refused(401, "CODE_WRONG");
    }
    log_in().await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_code_of_a_sign_up_is_guessed_five_times_and_counts_for_a_quarter_of_an_hour() {
    let world = World::with(&[("PODO_CONFIRM_EMAIL", "on")]).await;
    let asked = ask(&world, "one@podo.kr").await.expect(202);
    let code = code_in(&notification(&world, CODE_SUBJECT, 1).await);
    for _ in 0..5 {
        confirm(&world, &asked, "guess").await.refused(401, "CODE_WRONG");
    }
    confirm(&world, &asked, &code).await.refused(401, "CODE_WRONG");
    let late = ask(&world, "one@podo.kr").await.expect(202);
    let code = code_in(&notification(&world, CODE_SUBJECT, 2).await);
    world.clock.advance(15 * MINUTE);
    confirm(&world, &late, &code).await.refused(401, "CODE_WRONG");
    // Two sign-ups for one address: the first to confirm gets it.
    let (mine, theirs) = (ask(&world, "one@podo.kr").await, ask(&world, "one@podo.kr").await);
    let codes = until("two more notifications", async || {
        let mailbox = world.organiser.get("/api/admin/mailbox").await.expect(200);
        let notifications = mailbox["items"].as_array().unwrap().clone();
        let ours = |id: &Value| {
            let found = notifications.iter().find(|it| it["userId"] == *id)?;
            Some(code_in(&text(found, "body")))
        };
        ours(&mine.expect(202)["signUpId"]).zip(ours(&theirs.expect(202)["signUpId"]))
    })
    .await;
    confirm(&world, &theirs.expect(202), &codes.1).await.expect(201);
    confirm(&world, &mine.expect(202), &codes.0).await.refused(409, "EMAIL_TAKEN");
}
