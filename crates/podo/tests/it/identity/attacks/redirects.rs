//! Links on other sites: where they send a browser, and what they make it do.

use crate::support::client::{Answer, send, text};
use crate::support::world::{Plan, World};
use reqwest::{Client, Method, redirect};
use serde_json::json;

const PASSWORD: &str = "sour green grapes";

async fn sign_up(world: &World) {
    let body = json!({ "email": "fan@podo.kr", "password": PASSWORD, "name": "포도" });
    world.stranger.post("/api/auth/signup", &body).await.expect(201);
}

/// Logs in through the form, with this `next`.
async fn log_in(world: &World, next: &str) -> Answer {
    let client = Client::builder().redirect(redirect::Policy::none()).build().unwrap();
    let form = [("email", "fan@podo.kr"), ("password", PASSWORD), ("next", next)];
    send(client.post(format!("{}/enter", world.running.url())).form(&form)).await
}

/// Values that would lead to another site, or out of the intended path.
const FOREIGN: [&str; 18] = [
    "https://evil.example",
    "//evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "\t//evil.example",
    " //evil.example",
    "/%09/evil.example",
    "/%2Fevil.example",
    "/%5Cevil.example",
    "/%2e%2e//evil.example",
    "/.//evil.example",
    "/tickets//evil.example",
    "/tickets/../..//evil.example",
    "/@evil.example",
    "javascript:alert(1)",
    "/tickets\r\nSet-Cookie: a=b",
];

#[tokio::test(flavor = "multi_thread")]
async fn after_a_log_in_a_browser_stays_with_us() {
    let world = World::start().await;
    sign_up(&world).await;
    for next in FOREIGN {
        let answer = log_in(&world, next).await;
        answer.expect(303);
        assert_eq!(answer.header("location"), "/tickets", "{next:?}");
    }
    let id = "0190a000-0000-7000-8000-000000000000";
    for next in ["/tickets".to_owned(), format!("/queue/{id}"), format!("/standby/{id}")] {
        assert_eq!(log_in(&world, &next).await.header("location"), next);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_carries_no_foreign_address() {
    let world = World::start().await;
    for page in ["/enter", "/join"] {
        for next in FOREIGN {
            let query = serde_urlencoded::to_string([("next", next)]).unwrap();
            let answer = world.stranger.get(&format!("{page}?{query}")).await;
            assert_eq!(answer.status, 200, "{next:?}");
            assert!(!answer.text.contains("evil"), "{page} carries {next:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_on_another_site_does_not_enter_the_queue() {
    let world = World::start().await;
    sign_up(&world).await;
    let show = world.show(Plan { max_active: 1, ..Plan::default() }).await;
    let _inside = world.fan_inside(&show).await;
    let body = json!({ "email": "fan@podo.kr", "password": PASSWORD });
    let session = world.stranger.post("/api/auth/login", &body).await.expect(200);
    let cookie = format!("__Host-podo_access={}", text(&session, "accessToken"));
    let path = format!("/queue/{}", show.schedule);
    let call = |method: Method, site: &str| {
        let call = world.stranger.call(method, &path).header("Cookie", &cookie);
        call.header("Accept", "text/html").header("Sec-Fetch-Site", site)
    };
    let status = format!("/api/queue/status?scheduleId={}", show.schedule);
    let fan = world.stranger.with_token(&text(&session, "accessToken"));
    // Followed from another site, typed in, or prefetched: a GET never enters.
    for site in ["cross-site", "same-site", "none", "same-origin"] {
        let page = send(call(Method::GET, site)).await;
        assert_eq!(page.status, 200, "{}", page.text);
        assert!(page.text.contains("method=\"post\""), "a form asks first: {}", page.text);
        fan.get(&status).await.refused(404, "NOT_IN_QUEUE");
    }
    send(call(Method::POST, "cross-site")).await.refused(403, "ORIGIN_FORBIDDEN");
    fan.get(&status).await.refused(404, "NOT_IN_QUEUE");
    // Our own form enters, and from then on a GET shows the place.
    let entered = send(call(Method::POST, "same-origin")).await;
    assert_eq!(entered.status, 200, "{}", entered.text);
    assert_eq!(fan.get(&status).await.expect(200)["position"], 1);
    let page = send(call(Method::GET, "same-origin")).await;
    assert!(page.text.contains("hero num\">1"), "{}", page.text);
}
