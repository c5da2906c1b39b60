//! Sign-up, sessions, logout and permissions.

#[path = "accounts/consents.rs"]
mod consents;
#[path = "accounts/recovery.rs"]
mod recovery;

use crate::support::client::{Answer, Api, send, text};
use crate::support::world::{Plan, World};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

const PASSWORD: &str = "sour green grapes";

async fn sign_up(world: &World, email: &str) -> Answer {
    let body = json!({ "email": email, "password": PASSWORD, "name": "포도" });
    world.stranger.post("/api/auth/signup", &body).await
}

async fn log_in(world: &World, email: &str, password: &str) -> Answer {
    let body = json!({ "email": email, "password": password });
    world.stranger.post("/api/auth/login", &body).await
}

async fn refresh(world: &World, token: &str) -> Answer {
    world.stranger.post("/api/auth/refresh", &json!({ "refreshToken": token })).await
}

/// Signs up and logs in; returns the session.
async fn new_session(world: &World) -> Value {
    sign_up(world, "fan@podo.kr").await.expect(201);
    log_in(world, "fan@podo.kr", PASSWORD).await.expect(200)
}

async fn me(world: &World, session: &Value) -> Answer {
    world.stranger.with_token(&text(session, "accessToken")).get("/api/users/me").await
}

#[tokio::test(flavor = "multi_thread")]
async fn one_address_is_one_account_however_it_is_spelled() {
    let world = World::start().await;
    sign_up(&world, "Fan@Podo.kr").await.expect(201);
    sign_up(&world, " fan@podo.KR ").await.refused(409, "EMAIL_TAKEN");
    let session = log_in(&world, "FAN@PODO.KR", PASSWORD).await.expect(200);
    assert_eq!(session["user"]["email"], "fan@podo.kr");
    assert_eq!(session["user"]["role"], "USER");
    let me = me(&world, &session).await.expect(200);
    assert_eq!(me["name"], "포도");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_and_an_unknown_address_get_the_same_response() {
    let world = World::start().await;
    sign_up(&world, "fan@podo.kr").await.expect(201);
    let without_trace = |answer: Answer| {
        let mut problem = answer.refused(401, "LOGIN_FAILED");
        problem.as_object_mut().unwrap().remove("traceId");
        problem
    };
    let wrong = without_trace(log_in(&world, "fan@podo.kr", "sweet red grapes").await);
    let unknown = without_trace(log_in(&world, "unknown@podo.kr", PASSWORD).await);
    assert_eq!(wrong, unknown);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_token_is_spent_for_the_next_pair() {
    let world = World::start().await;
    let first = new_session(&world).await;
    let second = refresh(&world, &text(&first, "refreshToken")).await.expect(200);
    assert_ne!(first["refreshToken"], second["refreshToken"]);
    me(&world, &second).await.expect(200);
    // A lost response or a second tab, not theft.
    refresh(&world, &text(&first, "refreshToken")).await.refused(409, "REFRESH_RETRY");
    refresh(&world, &text(&second, "refreshToken")).await.expect(200);
    refresh(&world, "nonsense").await.refused(401, "REFRESH_INVALID");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spent_refresh_token_kills_its_whole_family() {
    let world = World::start().await;
    let stolen = new_session(&world).await;
    let session = refresh(&world, &text(&stolen, "refreshToken")).await.expect(200);
    let elsewhere = log_in(&world, "fan@podo.kr", PASSWORD).await.expect(200);
    world.clock.advance(Duration::from_secs(21));
    refresh(&world, &text(&stolen, "refreshToken")).await.refused(401, "REFRESH_REUSED");
    let dead = refresh(&world, &text(&session, "refreshToken")).await;
    assert_eq!(dead.status, 401, "{}", dead.text);
    me(&world, &session).await.refused(401, "LOGIN_REQUIRED");
    me(&world, &stolen).await.refused(401, "LOGIN_REQUIRED");
    me(&world, &elsewhere).await.expect(200);
    refresh(&world, &text(&elsewhere, "refreshToken")).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cookies_log_in_and_refresh_and_no_script_can_read_them() {
    let world = World::start().await;
    sign_up(&world, "fan@podo.kr").await.expect(201);
    let answer = log_in(&world, "fan@podo.kr", PASSWORD).await;
    let cookies: Vec<&str> =
        answer.headers.get_all("set-cookie").iter().map(|it| it.to_str().unwrap()).collect();
    let is_safe = |cookie: &&str| {
        ["__Host-podo_", "HttpOnly", "Secure", "Path=/;"].iter().all(|it| cookie.contains(it))
    };
    assert!(cookies.len() == 3 && cookies.iter().all(is_safe), "{cookies:?}");
    let pairs = cookies.iter().map(|it| it.split(';').next().unwrap()).collect::<Vec<_>>();
    let pairs = format!("a=b; {}", pairs.join("; "));
    let with_cookies = |method, path: &str| {
        world.stranger.call(method, path).header("Cookie", pairs.as_str()).json(&json!({}))
    };
    let me = send(with_cookies(Method::GET, "/api/users/me")).await.expect(200);
    assert_eq!(me["email"], "fan@podo.kr");
    send(with_cookies(Method::POST, "/api/auth/refresh")).await.expect(200);
    let gone = send(with_cookies(Method::POST, "/api/auth/logout")).await;
    gone.expect(204);
    let gone = gone.headers.get_all("set-cookie").iter();
    assert!(gone.filter(|it| it.to_str().unwrap().contains("Max-Age=0")).count() == 2);
    send(with_cookies(Method::GET, "/api/users/me")).await.refused(401, "LOGIN_REQUIRED");
    let nothing = world.stranger.post("/api/auth/refresh", &json!({})).await;
    nothing.refused(401, "REFRESH_INVALID");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_of_another_site_cannot_use_the_cookies() {
    let world = World::start().await;
    sign_up(&world, "fan@podo.kr").await.expect(201);
    let body = json!({ "email": "fan@podo.kr", "password": PASSWORD });
    let from = async |origin: &str| {
        let call = world.stranger.call(Method::POST, "/api/auth/login");
        send(call.header("Origin", origin).json(&body)).await
    };
    from("https://evil.example").await.refused(403, "ORIGIN_FORBIDDEN");
    from("null").await.refused(403, "ORIGIN_FORBIDDEN");
    from(&world.running.url()).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_logging_out_nothing_of_the_session_works() {
    let world = World::start().await;
    let session = new_session(&world).await;
    let fan = world.stranger.with_token(&text(&session, "accessToken"));
    fan.post("/api/auth/logout", &json!({})).await.expect(204);
    me(&world, &session).await.refused(401, "LOGIN_REQUIRED");
    let spent = refresh(&world, &text(&session, "refreshToken")).await;
    assert_eq!(spent.status, 401, "{}", spent.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_access_token_ends_after_an_hour() {
    let world = World::start().await;
    let session = new_session(&world).await;
    assert_eq!(session["expiresIn"], 3_600);
    world.clock.advance(Duration::from_secs(3_601));
    me(&world, &session).await.refused(401, "LOGIN_REQUIRED");
    let next = refresh(&world, &text(&session, "refreshToken")).await.expect(200);
    me(&world, &next).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_organiser_of_the_settings_can_log_in() {
    let settings = [("PODO_ADMIN_EMAIL", "boss@podo.kr"), ("PODO_ADMIN_PASSWORD", PASSWORD)];
    let world = World::with(&settings).await;
    let session = log_in(&world, "boss@podo.kr", PASSWORD).await.expect(200);
    assert_eq!(session["user"]["role"], "ADMIN");
    let venue = json!({ "name": "홀", "address": "길", "city": "서울" });
    let boss = world.stranger.with_token(&text(&session, "accessToken"));
    boss.post("/api/admin/venues", &venue).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_organisers_may_organise() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan().await;
    let (event, schedule) = (&show.event, show.schedule);
    let routes = [
        (Method::POST, "/api/admin/venues".to_owned()),
        (Method::POST, format!("/api/admin/venues/{event}/halls")),
        (Method::POST, "/api/admin/events".to_owned()),
        (Method::POST, format!("/api/admin/events/{event}/schedules")),
        (Method::POST, format!("/api/admin/events/{event}/open")),
        (Method::POST, format!("/api/admin/events/{event}/end")),
        (Method::POST, format!("/api/admin/events/{event}/cancel")),
        (Method::GET, format!("/api/admin/schedules/{schedule}/queue")),
        (Method::PUT, format!("/api/admin/schedules/{schedule}/queue")),
        (Method::GET, format!("/api/admin/schedules/{schedule}/live")),
    ];
    let ask = async |api: &Api, method: &Method, path: &str| {
        send(api.call(method.clone(), path).json(&json!({}))).await
    };
    for (method, path) in &routes {
        ask(&world.stranger, method, path).await.refused(401, "LOGIN_REQUIRED");
        ask(&fan.api, method, path).await.refused(403, "ADMIN_ONLY");
    }
    let events = world.stranger.get("/api/events").await.expect(200);
    assert_eq!(events["items"][0]["status"], "OPEN", "no attempt changed anything");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fans_own_data_is_hidden_from_other_fans() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let (fan, other) = (world.fan_inside(&show).await, world.fan().await);
    let bought = fan.buy(&show, 0).await;
    let own = [
        format!("/api/booking/reservations/{}", bought.reservation),
        format!("/api/payment/{}", bought.payment),
        format!("/api/tickets/{}", bought.ticket),
        format!("/api/tickets/{}/qr.svg", bought.ticket),
    ];
    for path in &own {
        fan.api.get(path).await.expect(200);
        other.api.get(path).await.refused(404, "NOT_FOUND");
        world.stranger.get(path).await.refused(401, "LOGIN_REQUIRED");
    }
    for path in ["/api/booking/reservations", "/api/tickets", "/api/wallet/ledger"] {
        assert_eq!(other.api.get(path).await.expect(200)["items"], json!([]), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_in_preparation_is_hidden_from_fans() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let open = world.stranger.get(&format!("/api/events/{}", show.event)).await.expect(200);
    assert_eq!(open["schedules"][0]["id"], show.schedule.to_string());
    let venue = json!({ "name": "홀", "address": "길", "city": "서울" });
    let venue = text(&world.organiser.post("/api/admin/venues", &venue).await.expect(201), "id");
    let template = json!({ "layoutType": "grid", "rows": ["A"], "seatsPerRow": 1,
        "gradeMapping": { "A": "VIP" } });
    let hall = json!({ "name": "홀", "seatTemplate": template });
    let path = format!("/api/admin/venues/{venue}/halls");
    let hall = text(&world.organiser.post(&path, &hall).await.expect(201), "id");
    let event = json!({ "title": "비밀", "artist": "?", "venueId": venue, "hallId": hall });
    let event = text(&world.organiser.post("/api/admin/events", &event).await.expect(201), "id");
    world.stranger.get(&format!("/api/events/{event}")).await.refused(404, "NOT_FOUND");
    let listed = world.stranger.get("/api/events").await.expect(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
}
