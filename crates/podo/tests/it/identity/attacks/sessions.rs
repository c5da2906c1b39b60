//! Attempts to stay logged in beyond the end of the session.

use crate::support::client::{Answer, send, text};
use crate::support::world::{Plan, World};
use crate::waiting_room::stream::listen;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

const PASSWORD: &str = "sour green grapes";
const HOUR: Duration = Duration::from_secs(60 * 60);

async fn log_in(world: &World, email: &str) -> Value {
    let body = json!({ "email": email, "password": PASSWORD });
    world.stranger.post("/api/auth/login", &body).await.expect(200)
}

async fn fan(world: &World) -> Value {
    let body = json!({ "email": "fan@podo.kr", "password": PASSWORD, "name": "포도" });
    world.stranger.post("/api/auth/signup", &body).await.expect(201);
    log_in(world, "fan@podo.kr").await
}

/// The cookies of a browser.
struct Browser<'w> {
    world: &'w World,
    access: String,
    refresh: Option<String>,
}

impl Browser<'_> {
    /// Opens a page and stores its cookies.
    async fn open(&mut self, path: &str) -> Answer {
        let mut cookies = format!("__Host-podo_access={}", self.access);
        if let Some(refresh) = &self.refresh {
            cookies += &format!("; __Host-podo_refresh={refresh}");
        }
        let call = self.world.stranger.call(Method::GET, path).header("Accept", "text/html");
        let answer = send(call.header("Cookie", cookies)).await;
        let given = |name: &str| {
            let all = answer.headers.get_all("set-cookie").iter();
            let mut texts = all.map(|it| it.to_str().unwrap());
            let value = texts.find_map(|it| it.strip_prefix(name)?.strip_prefix('='))?;
            Some(value.split(';').next().unwrap().to_owned())
        };
        if let Some(access) = given("__Host-podo_access") {
            self.access = access;
        }
        if let (Some(_), Some(refresh)) = (&self.refresh, given("__Host-podo_refresh")) {
            self.refresh = Some(refresh);
        }
        answer
    }

    async fn is_logged_in(&mut self) -> bool {
        let page = self.open("/tickets").await;
        assert_eq!(page.status, 200);
        !page.text.contains("/enter?next")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_access_token_that_was_copied_does_not_renew_itself_through_the_pages() {
    let world = World::start().await;
    let session = fan(&world).await;
    let show = world.show(Plan::default()).await;
    let access = text(&session, "accessToken");
    let mut thief = Browser { world: &world, access, refresh: None };
    let pages = [
        "/tickets".to_owned(),
        format!("/queue/{}", show.schedule),
        format!("/standby/{}", show.schedule),
    ];
    for _ in 0..6 {
        world.clock.advance(HOUR * 5 / 18);
        for page in &pages {
            thief.open(page).await;
        }
    }
    assert!(!thief.is_logged_in().await, "a token for an hour lives on after 100 minutes");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_renew_a_session_with_its_refresh_token_and_only_while_it_lives() {
    let world = World::start().await;
    let session = fan(&world).await;
    let refresh = Some(text(&session, "refreshToken"));
    let mut browser = Browser { world: &world, access: text(&session, "accessToken"), refresh };
    for _ in 0..5 {
        world.clock.advance(HOUR / 6 * 5);
        assert!(browser.is_logged_in().await, "the browser has a live refresh token");
    }
    let copy = Browser { world: &world, access: browser.access.clone(), refresh: None };
    let api = world.stranger.with_token(&browser.access);
    api.post("/api/auth/logout", &json!({})).await.expect(204);
    assert!(!browser.is_logged_in().await, "the session has ended");
    world.clock.advance(2 * HOUR);
    assert!(!browser.is_logged_in().await, "an ended session is not renewed");
    let mut copy = copy;
    assert!(!copy.is_logged_in().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_session_expires_for_the_pages_too() {
    let world = World::start().await;
    let session = fan(&world).await;
    let refresh = Some(text(&session, "refreshToken"));
    let mut browser = Browser { world: &world, access: text(&session, "accessToken"), refresh };
    world.clock.advance(8 * 24 * HOUR);
    assert!(!browser.is_logged_in().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_live_stream_of_an_organiser_ends_with_the_session() {
    let boss = [("PODO_ADMIN_EMAIL", "boss@podo.kr"), ("PODO_ADMIN_PASSWORD", PASSWORD)];
    let world = World::with(&boss).await;
    let show = world.show(Plan::default()).await;
    let path = format!("/api/admin/schedules/{}/live/stream", show.schedule);
    let watch = async || {
        let session = log_in(&world, "boss@podo.kr").await;
        let api = world.stranger.with_token(&text(&session, "accessToken"));
        let mut live = listen(&api, &path).await;
        live.next().await.expect("the first view");
        (api, live)
    };
    let (api, mut live) = watch().await;
    api.post("/api/auth/logout", &json!({})).await.expect(204);
    // A change that a live stream would push.
    let settings = format!("/api/admin/schedules/{}/queue", show.schedule);
    world.organiser.put(&settings, &Plan::default().queue("PAUSED")).await.expect(200);
    assert_eq!(live.next().await, None, "the session was ended");
    // A watching organiser may be idle, but not beyond the idle timeout.
    let (_api, mut live) = watch().await;
    world.clock.advance(Duration::from_secs(6 * 60));
    world.organiser.put(&settings, &Plan::default().queue("AUTO")).await.expect(200);
    assert!(live.next().await.is_some(), "the session is not over yet");
    world.clock.advance(Duration::from_secs(10 * 60));
    assert_eq!(live.next().await, None, "the session was not renewed in its time");
}
