//! A person whose every secret is easy to recognise, and a search for them in files.

use crate::support::client::{Api, send, text};
use crate::support::fan::Fan;
use crate::support::world::{PRICE, Show, until};
use podo_testbed::Gateways;
use reqwest::Method;
use serde_json::{Value, json};
use std::path::Path;

const EMAIL: &str = "canary.7421963@podo.kr";
const NAME: &str = "카나리칠사이일";
const NEXT_NAME: &str = "카나리구육삼";
const PHONE: &str = "01074219637";
const NEXT_PHONE: &str = "01096377421";
pub(crate) const CUSTOMER: &str = "카나리현장손님";
const CUSTOMER_PHONE: &str = "01074219638";
const CUSTOMER_NOTE: &str = "카나리 메모 칠사이일";
const PASSWORD: &str = "canary sour grapes 7421";
const WRONG: &str = "canary sweet grapes 9637";
const CI: &str = "CIcanary+7Zq3Vb1xkT0mWq9sJ5nYp2LrHd8Ff6GgKk4Cc/AaEeIiOoUuXxZz==";
const DI: &str = "DIcanary4Cc/AaEeIiOoUuXxZz";
const CODE_SECRET: usize = 32;

pub(crate) const BOSS: [(&str, &str); 2] =
    [("PODO_ADMIN_EMAIL", "boss@podo.kr"), ("PODO_ADMIN_PASSWORD", "sour green grapes")];

/// Settings of a server that uses this fake to verify identities.
pub(crate) fn settings(portone: &Gateways) -> [(&'static str, String); 6] {
    [
        ("PODO_IDENTITY_URL", portone.url()),
        ("PODO_IDENTITY_STORE_ID", "store".to_owned()),
        ("PODO_IDENTITY_CHANNEL_KEY", "channel".to_owned()),
        ("PODO_IDENTITY_SECRET", "canary-secret-of-portone".to_owned()),
        (BOSS[0].0, BOSS[0].1.to_owned()),
        (BOSS[1].0, BOSS[1].1.to_owned()),
    ]
}

/// Uses every feature as this person; returns everything that must be found nowhere.
pub(crate) async fn live(url: &str, portone: &Gateways) -> Vec<String> {
    let stranger = Api::at(url);
    let body = json!({ "email": EMAIL, "password": PASSWORD, "name": NAME, "phone": PHONE });
    let boss = boss(&stranger).await;
    let user = sign_up(&stranger, &boss, &body).await;
    let wrong = json!({ "email": EMAIL, "password": WRONG });
    stranger.post("/api/auth/login", &wrong).await.refused(401, "LOGIN_FAILED");
    let right = json!({ "email": EMAIL, "password": PASSWORD });
    let session = stranger.post("/api/auth/login", &right).await.expect(200);
    let refresh = json!({ "refreshToken": text(&session, "refreshToken") });
    let next = stranger.post("/api/auth/refresh", &refresh).await.expect(200);
    let fan = stranger.with_token(&text(&next, "accessToken"));
    let change = json!({ "name": NEXT_NAME, "phone": NEXT_PHONE });
    send(fan.call(Method::PATCH, "/api/users/me").json(&change)).await.expect(200);
    let started = fan.post("/api/users/me/identity/start", &json!({})).await.expect(201);
    let id = text(&started, "identityVerificationId");
    portone.pass_identity(&id, Some(CI), Some(DI));
    let proof = json!({ "identityVerificationId": id });
    fan.post("/api/users/me/identity", &proof).await.expect(200);
    let begun = fan.post("/api/users/me/totp", &json!({ "password": PASSWORD })).await.expect(201);
    search_as_organiser(&boss).await;
    let bought = buy(&boss, Fan { id: user.parse().unwrap(), api: fan }).await;
    let secret = text(&begun, "secret");
    assert_eq!(secret.len(), CODE_SECRET);
    let known = [EMAIL, NAME, NEXT_NAME, PHONE, NEXT_PHONE, PASSWORD, WRONG, CI, DI];
    let mut known: Vec<String> = known.iter().map(ToString::to_string).collect();
    known.push(secret);
    known.push("canary-secret-of-portone".to_owned());
    known.extend(bought);
    for session in [&session, &next] {
        known.extend(["accessToken", "refreshToken"].map(|it| text(session, it)));
    }
    known
}

pub(crate) async fn boss(stranger: &Api) -> Api {
    let body = json!({ "email": BOSS[0].1, "password": BOSS[1].1 });
    let session = stranger.post("/api/auth/login", &body).await.expect(200);
    stranger.with_token(&text(&session, "accessToken"))
}

/// Creates the account, with the mailed code if it is required; returns its id.
async fn sign_up(stranger: &Api, boss: &Api, body: &Value) -> String {
    let answer = stranger.post("/api/auth/signup", body).await;
    if answer.status == 201 {
        return text(&answer.expect(201), "userId");
    }
    let id = text(&answer.expect(202), "signUpId");
    let mailed = until("the notification with the code", async || {
        let mailbox = boss.get("/api/admin/mailbox").await.expect(200);
        let notifications = mailbox["items"].as_array().unwrap().iter();
        notifications.clone().find(|it| it["userId"] == *id).map(|it| text(it, "body"))
    });
    let mailed = mailed.await;
    let mut digits = mailed.split(|it: char| !it.is_ascii_digit());
    let code = digits.find(|part| part.len() == 6).unwrap();
    let body = json!({ "signUpId": id, "code": code });
    stranger.post("/api/auth/signup/confirm", &body).await.expect(201);
    id
}

/// Buys a ticket; returns the tokens on the way.
pub(crate) async fn buy(boss: &Api, mut fan: Fan) -> Vec<String> {
    let made =
        async |path: String, body: Value| text(&boss.post(&path, &body).await.expect(201), "id");
    let venue = json!({ "name": "포도 아레나", "address": "올림픽로 1", "city": "서울" });
    let venue = made("/api/admin/venues".into(), venue).await;
    let template = json!({ "layoutType": "grid", "rows": ["A"], "seatsPerRow": 2,
        "gradeMapping": { "A": "VIP" } });
    let hall = json!({ "name": "대극장", "seatTemplate": template });
    let hall = made(format!("/api/admin/venues/{venue}/halls"), hall).await;
    let event = json!({ "title": "포도 콘서트", "artist": "청포도밴드", "venueId": venue,
        "hallId": hall });
    let event = made("/api/admin/events".into(), event).await;
    let dates = json!({ "startsAt": "2099-01-02T10:00:00Z", "endsAt": "2099-01-02T12:00:00Z",
        "saleStartsAt": "2026-01-01T00:00:00Z", "saleEndsAt": "2099-01-01T00:00:00Z",
        "prices": { "VIP": PRICE } });
    let schedule = made(format!("/api/admin/events/{event}/schedules"), dates).await;
    boss.post(&format!("/api/admin/events/{event}/open"), &json!({})).await.expect(200);
    let show = Show { event, schedule: schedule.parse().unwrap() };
    let place = text(&fan.enter(&show).await.expect(200), "token");
    fan.wait_inside(&show).await;
    fan.buy(&show, 0).await;
    let customer = json!({ "seats": [{ "seatId": show.seat(1) }], "tender": "CASH",
        "name": CUSTOMER, "phone": CUSTOMER_PHONE, "note": CUSTOMER_NOTE });
    let path = format!("/api/admin/schedules/{}/box-office", show.schedule);
    boss.post_new(&path, &customer).await.expect(201);
    let query = serde_urlencoded::to_string([("query", CUSTOMER)]).unwrap();
    let found = boss.get(&format!("/api/admin/support/search?{query}")).await.expect(200);
    assert_eq!(found["bookings"][0]["customer"], CUSTOMER);
    let mut secrets = vec![place, fan.api.entry().to_owned()];
    secrets.extend([CUSTOMER, CUSTOMER_PHONE, CUSTOMER_NOTE].map(str::to_owned));
    secrets
}

/// An organiser searches for the person by all their names.
async fn search_as_organiser(boss: &Api) {
    for (name, value) in [("subject", EMAIL), ("action", PHONE), ("subject", NAME)] {
        let query = serde_urlencoded::to_string([(name, value)]).unwrap();
        boss.get(&format!("/api/admin/audit?{query}")).await.expect(200);
    }
}

/// Which of these occur in the files below a folder, as text or as hexadecimal digits.
pub(crate) fn found_in(folder: &Path, secrets: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // Kafka preallocates ten megabytes of index beside every partition.
        let is_index = path.extension().is_some_and(|it| it == "index" || it == "timeindex");
        if path.is_dir() {
            found.extend(found_in(&path, secrets));
        } else if !is_index && let Ok(bytes) = std::fs::read(&path) {
            // Bytes that aren't text become replacement characters; text beside them stays.
            let text = String::from_utf8_lossy(&bytes);
            let is_in = |secret: &&String| contains(&text, secret);
            let here = secrets.iter().filter(is_in);
            found.extend(here.map(|secret| format!("{secret} in {}", path.display())));
        }
    }
    found
}

fn contains(text: &str, secret: &str) -> bool {
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    text.contains(secret) || text.contains(&hex)
}
