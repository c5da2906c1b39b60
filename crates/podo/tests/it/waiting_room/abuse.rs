//! Hundreds of tabs, thousands of polls, borrowed tokens: no fan gains or loses by them.

use crate::support::client::{Answer, Api, send, text};
use crate::support::world::{Plan, Show, World, until};
use futures::future::join_all;
use reqwest::Method;
use serde_json::json;
use std::time::Duration;

const LIMITS_ON: [(&str, &str); 2] =
    [("PODO_LIMITS", "on"), ("PODO_REQUESTS_PER_SECOND_PER_IP", "100000")];

async fn status_with(api: &Api, show: &Show, token: &str) -> Answer {
    let path = format!("/api/queue/status?scheduleId={}", show.schedule);
    send(api.call(Method::GET, &path).header("Queue-Token", token)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_tabs_are_one_place() {
    let world = World::start().await;
    let show = world.show(Plan { max_active: 1, ..Plan::default() }).await;
    let _inside = world.fan_inside(&show).await;
    let (fan, next) = (world.fan().await, world.fan().await);
    let second = world.again(&fan);
    let tabs =
        (0..100).map(|tab| if tab % 2 == 0 { fan.enter(&show) } else { second.enter(&show) });
    let mut numbers = Vec::new();
    for answer in join_all(tabs).await {
        let view = answer.expect(200);
        assert_eq!(view["position"], 1, "{view}");
        numbers.push(view["number"].as_u64().unwrap());
    }
    numbers.dedup();
    assert_eq!(numbers.len(), 1, "one fan, one number");
    let view = next.enter(&show).await.expect(200);
    assert_eq!((view["position"].as_u64(), view["ahead"].as_u64()), (Some(2), Some(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fan_who_polls_far_too_fast_is_throttled_and_keeps_the_place() {
    let world = World::with(&LIMITS_ON).await;
    let show = world.show(Plan { max_active: 1, ..Plan::default() }).await;
    let _inside = world.fan_inside(&show).await;
    let (fan, other) = (world.fan().await, world.fan().await);
    let token = text(&fan.enter(&show).await.expect(200), "token");
    other.enter(&show).await.expect(200);
    let mut n_refused = 0;
    for _ in 0..60 {
        let answer = status_with(&world.stranger, &show, &token).await;
        if answer.status == 429 {
            answer.refused(429, "TOO_MANY_REQUESTS");
            assert!(answer.header("retry-after").parse::<u64>().unwrap() >= 1);
            n_refused += 1;
        } else {
            assert_eq!(answer.expect(200)["position"], 1);
        }
    }
    assert!(n_refused >= 30, "{n_refused} of 60 were put off");
    other.status(&show).await.expect(200);
    world.clock.advance(Duration::from_secs(2));
    assert_eq!(status_with(&world.stranger, &show, &token).await.expect(200)["position"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_token_that_was_tampered_with_is_refused_everywhere() {
    let world = World::start().await;
    let (show, other_show) = (world.show(Plan::default()).await, world.show(Plan::default()).await);
    let (mut fan, stranger) = (world.fan().await, world.fan().await);
    let token = text(&fan.enter(&show).await.expect(200), "token");
    let elsewhere = text(&fan.enter(&other_show).await.expect(200), "token");
    let others = text(&stranger.enter(&show).await.expect(200), "token");
    fan.wait_inside(&show).await;
    let mut flipped = token.clone().into_bytes();
    flipped[40] = if flipped[40] == b'A' { b'B' } else { b'A' };
    let bad = [
        ("another fan's", others),
        ("another date's", elsewhere),
        ("a forged one", String::from_utf8(flipped).unwrap()),
        ("a truncated one", token[..token.len() - 4].to_owned()),
        ("a longer one", format!("{token}AAAA")),
        ("of an older version", format!("AQ{}", &token[2..])),
        ("an entry token", fan.api.entry().to_owned()),
        ("an access token", fan.api.token().to_owned()),
        ("nonsense", "7".to_owned()),
    ];
    let query = format!("scheduleId={}", show.schedule);
    let paths = ["status", "position", "stream"].map(|it| format!("/api/queue/{it}?{query}"));
    for (what, token) in &bad {
        let with = |method, path: &str| fan.api.call(method, path).header("Queue-Token", token);
        for path in &paths {
            let answer = send(with(Method::GET, path)).await;
            assert_eq!(answer.status, 401, "{what} at {path}: {}", answer.text);
            answer.refused(401, "QUEUE_TOKEN_INVALID");
        }
        let body = json!({ "scheduleId": show.schedule });
        let entered = send(with(Method::POST, "/api/queue/enter").json(&body)).await;
        entered.refused(401, "QUEUE_TOKEN_INVALID");
        let left = send(with(Method::DELETE, &format!("/api/queue/leave?{query}"))).await;
        left.refused(401, "QUEUE_TOKEN_INVALID");
    }
    assert_eq!(fan.status(&show).await.expect(200)["state"], "ADMITTED", "nothing was lost by it");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_token_works_in_the_log_in_that_it_was_given_to() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let mut second = world.again(&fan);
    second.api = second.api.with_entry(fan.api.entry());
    second.select(&show, &[0]).await.refused(403, "ENTRY_REQUIRED");
    second.wait_inside(&show).await;
    second.select(&show, &[0]).await.expect(201);
    fan.select(&show, &[1]).await.expect(201);
    // The place token alone shows the turn, but grants no entry.
    let token = text(&fan.enter(&show).await.expect(200), "token");
    let view = status_with(&world.stranger, &show, &token).await.expect(200);
    assert_eq!((view["state"].as_str(), view["entryToken"].as_str()), (Some("ADMITTED"), None));
}

#[tokio::test(flavor = "multi_thread")]
async fn queues_that_are_over_closed_or_unknown_say_so() {
    let world = World::start().await;
    let plan = Plan::default();
    let (show, closed) = (world.show(plan).await, world.show(plan).await);
    let fan = world.fan().await;
    let unknown = json!({ "scheduleId": uuid::Uuid::from_u128(7) });
    fan.api.post("/api/queue/enter", &unknown).await.refused(404, "NOT_FOUND");
    fan.api.post("/api/queue/enter", &json!({ "scheduleId": "7" })).await.refused(422, "INVALID");
    fan.api.post("/api/queue/enter", &json!({})).await.refused(422, "INVALID");
    let queue = format!("/api/admin/schedules/{}/queue", closed.schedule);
    world.organiser.put(&queue, &plan.queue("CLOSED")).await.expect(200);
    fan.enter(&closed).await.refused(409, "QUEUE_CLOSED");
    let end = format!("/api/admin/events/{}/end", show.event);
    world.organiser.post(&end, &json!({})).await.expect(200);
    until("entering an ended sale is refused", async || {
        (fan.enter(&show).await.status == 409).then_some(())
    })
    .await;
    fan.enter(&show).await.refused(409, "SALE_CLOSED");
    let progress = format!("/api/queue/{}/progress", uuid::Uuid::from_u128(7));
    world.stranger.get(&progress).await.refused(404, "NOT_FOUND");
}

/// With a real gateway configured, there is no other way to charge a wallet.
#[tokio::test(flavor = "multi_thread")]
async fn a_real_gateway_leaves_no_way_to_charge_a_wallet_for_nothing() {
    let world = World::with(&[
        ("PODO_PUBLIC_URL", "https://podo.example"),
        ("PODO_TOSS_URL", "http://127.0.0.1:9"),
        ("PODO_TOSS_CLIENT_KEY", "ck"),
        ("PODO_TOSS_SECRET_KEY", "sk"),
    ])
    .await;
    let fan = world.fan().await;
    let charge = json!({ "amount": 1_000_000 });
    fan.api.post_new("/api/wallet/charge", &charge).await;
    let sandbox = json!({ "amount": 1_000_000, "gateway": "sandbox" });
    let refused = fan.api.post_new("/api/wallet/charge", &sandbox).await;
    assert!((400..500).contains(&refused.status), "{}", refused.text);
    let page = format!("/api/payment/sandbox/{}", "0".repeat(32));
    let choice = json!({ "choice": "APPROVE" });
    fan.api.post_new(&page, &choice).await.refused(404, "NOT_FOUND");
    assert_eq!(fan.balance().await, 0);
}
