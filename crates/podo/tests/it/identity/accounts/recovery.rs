//! Getting back in: forgotten passwords, changed addresses, and attacks on both.

use crate::identity::admin_sessions::{code_in, notification};
use crate::support::client::{Answer, Api, text};
use crate::support::world::World;
use podo_app::identity::totp;
use serde_json::{Value, json};
use std::time::Duration;

const OLD: &str = "sour green grapes";
const NEW: &str = "sweet red grapes";
const SUBJECT: &str = "비밀번호를 다시 설정해 주세요";

async fn sign_up(world: &World, email: &str) {
    let body = json!({ "email": email, "password": OLD, "name": "포도" });
    world.stranger.post("/api/auth/signup", &body).await.expect(201);
}

async fn log_in(world: &World, email: &str, password: &str) -> Answer {
    let body = json!({ "email": email, "password": password });
    world.stranger.post("/api/auth/login", &body).await
}

fn api(world: &World, session: &Value) -> Api {
    world.stranger.with_token(&text(session, "accessToken"))
}

async fn forgot(world: &World, email: &str) -> Answer {
    world.stranger.post("/api/auth/password/forgotten", &json!({ "email": email })).await
}

async fn reset(world: &World, token: &str) -> Answer {
    let body = json!({ "token": token, "password": NEW });
    world.stranger.post("/api/auth/password/reset", &body).await
}

async fn token(world: &World, n_notifications: usize) -> String {
    let body = notification(world, SUBJECT, n_notifications).await;
    body.split_whitespace().last().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_sets_a_new_password_once_and_ends_all_sessions() {
    let world = World::start().await;
    sign_up(&world, "fan@podo.kr").await;
    let session = log_in(&world, "fan@podo.kr", OLD).await.expect(200);
    forgot(&world, "fan@podo.kr").await.expect(202);
    let first = token(&world, 1).await;
    forgot(&world, "fan@podo.kr").await.expect(202);
    let second = token(&world, 2).await;
    let answers = futures::future::join_all((0..4).map(|_| reset(&world, &second))).await;
    assert_eq!(answers.iter().filter(|it| it.status == 204).count(), 1);
    reset(&world, &second).await.refused(404, "LINK_INVALID");
    reset(&world, &first).await.refused(404, "LINK_INVALID");
    api(&world, &session).get("/api/users/me").await.refused(401, "LOGIN_REQUIRED");
    let body = json!({ "refreshToken": session["refreshToken"] });
    let refreshed = world.stranger.post("/api/auth/refresh", &body).await;
    refreshed.refused(401, "REFRESH_INVALID");
    log_in(&world, "fan@podo.kr", OLD).await.refused(401, "LOGIN_FAILED");
    let session = log_in(&world, "fan@podo.kr", NEW).await.expect(200);
    assert_eq!(session["user"]["emailVerified"], true, "the link proved the address");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_lives_for_half_an_hour_and_for_one_account() {
    let world = World::start().await;
    sign_up(&world, "fan@podo.kr").await;
    forgot(&world, "fan@podo.kr").await.expect(202);
    let token = token(&world, 1).await;
    let forged = format!("B{}", &token[1..]);
    for wrong in ["x", &token[..token.len() - 3], forged.as_str()] {
        reset(&world, wrong).await.refused(404, "LINK_INVALID");
    }
    // An invitation's or a sign-up's row is no link.
    let body = json!({ "token": token });
    let shown = world.stranger.post("/api/auth/invitation", &body).await;
    shown.refused(404, "INVITATION_INVALID");
    world.clock.advance(Duration::from_secs(30 * 60));
    reset(&world, &token).await.refused(404, "LINK_INVALID");
    log_in(&world, "fan@podo.kr", OLD).await.expect(200);
}

/// Everything that a client can observe of a response, except its own values.
fn shape(answer: &Answer) -> (u16, Vec<String>, Vec<String>) {
    let body: Value = serde_json::from_str(&answer.text).unwrap();
    let fields = body.as_object().unwrap().keys().cloned().collect();
    let mut headers: Vec<String> = answer.headers.keys().map(ToString::to_string).collect();
    headers.sort();
    (answer.status, headers, fields)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_address_gets_the_same_answer_and_no_link() {
    let world = World::start().await;
    sign_up(&world, "fan@podo.kr").await;
    let (known, unknown) =
        (forgot(&world, "fan@podo.kr").await, forgot(&world, "no@podo.kr").await);
    assert_eq!(shape(&known), shape(&unknown));
    let body = notification(&world, "이 이메일로 가입한 계정이 없어요", 1).await;
    assert!(!body.contains("{link}") && !body.contains('/'), "{body}");
}

/// The same work: both ask the store once and write one row, so the medians differ by noise only.
#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_address_takes_the_same_time() {
    let world = World::with(&[("PODO_LIMITS", "off")]).await;
    sign_up(&world, "fan@podo.kr").await;
    let mut times = [Vec::new(), Vec::new()];
    // Alternating, so that other load on the machine meets both alike.
    for _ in 0..40 {
        for (times, email) in times.iter_mut().zip(["fan@podo.kr", "no@podo.kr"]) {
            let begun = std::time::Instant::now();
            forgot(&world, email).await.expect(202);
            times.push(begun.elapsed());
        }
    }
    let [known, unknown] = times.map(|mut times| {
        times.sort();
        times[times.len() / 2]
    });
    let (less, more) = (known.min(unknown), known.max(unknown));
    assert!(more < less * 3, "known {known:?}, unknown {unknown:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_limited_per_address_and_per_network() {
    let world = World::with(&[("PODO_LIMITS", "on")]).await;
    for address in ["fan@podo.kr", "no@podo.kr"] {
        for _ in 0..5 {
            forgot(&world, address).await.expect(202);
        }
        forgot(&world, address).await.refused(429, "TOO_MANY_REQUESTS");
    }
    let mut statuses = Vec::new();
    for number in 0..15 {
        statuses.push(forgot(&world, &format!("p{number}@podo.kr")).await.status);
    }
    assert_eq!(statuses.last(), Some(&429), "{statuses:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reset_does_not_replace_the_second_factor() {
    let world = World::start().await;
    sign_up(&world, "fan@podo.kr").await;
    let session = log_in(&world, "fan@podo.kr", OLD).await.expect(200);
    let fan = api(&world, &session);
    let begun = fan.post("/api/users/me/totp", &json!({ "password": OLD })).await.expect(201);
    let secret = totp::from_base32(&text(&begun, "secret")).unwrap();
    let code = totp::code_now(&secret, world.context().now());
    fan.post("/api/users/me/totp/confirm", &json!({ "code": code })).await.expect(204);
    forgot(&world, "fan@podo.kr").await.expect(202);
    reset(&world, &token(&world, 1).await).await.expect(204);
    log_in(&world, "fan@podo.kr", NEW).await.refused(401, "CODE_REQUIRED");
}

async fn ask_change(api: &Api, password: &str, email: &str) -> Answer {
    api.post("/api/users/me/email", &json!({ "password": password, "email": email })).await
}

async fn confirm(api: &Api, change: &Value, code: &str) -> Answer {
    let body = json!({ "changeId": change["changeId"], "code": code });
    api.post("/api/users/me/email/confirm", &body).await
}

const CODE_SUBJECT: &str = "이메일 변경 확인 코드";

#[tokio::test(flavor = "multi_thread")]
async fn a_new_address_needs_the_password_and_the_code_and_the_old_one_learns_of_it() {
    let world = World::start().await;
    sign_up(&world, "old@podo.kr").await;
    let session = log_in(&world, "old@podo.kr", OLD).await.expect(200);
    let other = log_in(&world, "old@podo.kr", OLD).await.expect(200);
    let fan = api(&world, &session);
    ask_change(&fan, NEW, "new@podo.kr").await.refused(403, "PASSWORD_WRONG");
    let change = ask_change(&fan, OLD, "new@podo.kr").await.expect(202);
    let code = code_in(&notification(&world, CODE_SUBJECT, 1).await);
    let thief = world.fan().await.api;
    confirm(&thief, &change, &code).await.refused(401, "CODE_WRONG");
    confirm(&fan, &change, "000000").await.refused(401, "CODE_WRONG");
    confirm(&fan, &change, &code).await.expect(204);
    confirm(&fan, &change, &code).await.refused(401, "CODE_WRONG");
    let me = fan.get("/api/users/me").await.expect(200);
    assert_eq!((&me["email"], &me["emailVerified"]), (&json!("new@podo.kr"), &json!(true)));
    api(&world, &other).get("/api/users/me").await.refused(401, "LOGIN_REQUIRED");
    notification(&world, "계정의 이메일이 바뀌었어요", 1).await;
    log_in(&world, "old@podo.kr", OLD).await.refused(401, "LOGIN_FAILED");
    log_in(&world, "new@podo.kr", OLD).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_taken_address_is_not_revealed_and_five_guesses_end_a_code() {
    let world = World::start().await;
    sign_up(&world, "fan@podo.kr").await;
    sign_up(&world, "taken@podo.kr").await;
    let fan = api(&world, &log_in(&world, "fan@podo.kr", OLD).await.expect(200));
    let taken = ask_change(&fan, OLD, "taken@podo.kr").await;
    let free = ask_change(&fan, OLD, "free@podo.kr").await;
    assert_eq!(shape(&taken), shape(&free));
    let code = code_in(&notification(&world, CODE_SUBJECT, 1).await);
    let (taken, free) = (taken.expect(202), free.expect(202));
    confirm(&fan, &taken, &code).await.refused(401, "CODE_WRONG");
    for _ in 0..5 {
        confirm(&fan, &free, "999999").await.refused(401, "CODE_WRONG");
    }
    confirm(&fan, &free, &code).await.refused(401, "CODE_WRONG");
    // A link that was mailed to the old address ends when the address changes.
    forgot(&world, "fan@podo.kr").await.expect(202);
    let link = token(&world, 1).await;
    let change = ask_change(&fan, OLD, "next@podo.kr").await.expect(202);
    let code = code_in(&notification(&world, CODE_SUBJECT, 2).await);
    confirm(&fan, &change, &code).await.expect(204);
    reset(&world, &link).await.refused(404, "LINK_INVALID");
}
