//! The waiting room over HTTP while Redis is down, or after it has lost everything.

use crate::support::client::{Answer, Api, send, text};
use crate::support::fan::Fan;
use crate::support::world::{MONTH, Plan, Show, World, until};
use podo_testbed::Redis;
use serde_json::Value;
use std::time::Duration;

const ONE_INSIDE: Plan = Plan {
    n_seats: 20,
    opens_in: Duration::ZERO,
    starts_in: MONTH,
    max_active: 1,
    entry_ttl_seconds: 600,
};

async fn world_on(redis: &Redis) -> World {
    World::with(&[("PODO_LIVE_URL", redis.url().as_str())]).await
}

/// Polls with the place token, like the page.
async fn poll(api: &Api, show: &Show, token: &str, language: &str) -> Answer {
    let path = format!("/api/queue/status?scheduleId={}", show.schedule);
    let call = api.call(reqwest::Method::GET, &path).header("Queue-Token", token);
    send(call.header("Accept-Language", language)).await
}

async fn enter(fan: &Fan, show: &Show) -> String {
    text(&fan.enter(show).await.expect(200), "token")
}

fn place(view: &Value) -> (Option<&str>, Option<u64>) {
    (view["state"].as_str(), view["position"].as_u64())
}

#[tokio::test(flavor = "multi_thread")]
async fn while_redis_is_unavailable_places_are_kept_and_no_fan_is_admitted() {
    let redis = Redis::start().unwrap();
    let world = world_on(&redis).await;
    let show = world.show(ONE_INSIDE).await;
    let inside = world.fan_inside(&show).await;
    let fans = world.fans(3).await;
    let mut tokens = Vec::new();
    for fan in &fans {
        tokens.push(enter(fan, &show).await);
    }
    // The node's copy of the queue is slightly stale; now it is refreshed.
    world.clock.advance(Duration::from_secs(1));
    let ask = async |language: &str| poll(&fans[1].api, &show, &tokens[1], language).await;
    let view = ask("ko").await.expect(200);
    assert_eq!((place(&view), &view["paused"]), ((Some("WAITING"), Some(2)), &Value::Null));

    redis.pause().unwrap();
    world.clock.advance(Duration::from_secs(2));
    let view = ask("ko").await.expect(200);
    assert_eq!((place(&view), &view["paused"]), ((Some("WAITING"), Some(2)), &Value::Bool(true)));
    assert!(text(&view, "message").contains("순서는 그대로"), "{view}");
    assert!(text(&ask("en").await.expect(200), "message").contains("Your place is kept"));
    let refused = world.fan().await.enter(&show).await;
    assert_eq!((refused.status, refused.header("retry-after").is_empty()), (503, false));
    assert_eq!(inside.select(&show, &[0]).await.status, 503, "seats are not given on a guess");

    redis.resume().unwrap();
    until("the waiting room goes on", async || {
        let view = ask("ko").await.expect(200);
        assert_eq!(place(&view), (Some("WAITING"), Some(2)));
        view["paused"].is_null().then_some(())
    })
    .await;
    until("the fan inside may leave", async || {
        let path = format!("/api/queue/leave?scheduleId={}", show.schedule);
        (inside.api.delete(&path).await.status == 204).then_some(())
    })
    .await;
    until("the first is let in, and the second moves up", async || {
        let view = ask("ko").await.expect(200);
        (place(&view) == (Some("WAITING"), Some(1))).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_redis_lost_its_data_every_fan_keeps_the_place_and_the_entry() {
    let redis = Redis::start().unwrap();
    let world = world_on(&redis).await;
    let show = world.show(ONE_INSIDE).await;
    let inside = world.fan_inside(&show).await;
    let leaver = world.fan().await;
    let gone = enter(&leaver, &show).await;
    let fans = world.fans(4).await;
    let mut tokens = Vec::new();
    for fan in &fans {
        tokens.push(enter(fan, &show).await);
    }
    redis.cli(&["flushall"]).unwrap();
    let live = format!("/api/admin/schedules/{}/live", show.schedule);
    until("the one inside is known again", async || {
        (world.organiser.get(&live).await.expect(200)["active"] == 1).then_some(())
    })
    .await;
    inside.select(&show, &[3]).await.expect(201);
    poll(&leaver.api, &show, &gone, "ko").await.expect(200);
    let path = format!("/api/queue/leave?scheduleId={}", show.schedule);
    let leave = leaver.api.call(reqwest::Method::DELETE, &path).header("Queue-Token", &gone);
    send(leave).await.expect(204);
    poll(&leaver.api, &show, &gone, "ko").await.refused(404, "NOT_IN_QUEUE");
    // They poll in any order; none is admitted, because the fan inside has the only slot.
    for index in [2, 0, 3, 1] {
        let view = poll(&fans[index].api, &show, &tokens[index], "ko").await.expect(200);
        assert_eq!(view["state"], "WAITING");
    }
    for (index, fan) in fans.iter().enumerate() {
        until("the order is as before", async || {
            let view = poll(&fan.api, &show, &tokens[index], "ko").await.expect(200);
            (place(&view) == (Some("WAITING"), Some(index as u64 + 1))).then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_was_let_in_before_the_loss_does_not_come_back_to_the_front() {
    let redis = Redis::start().unwrap();
    let world = world_on(&redis).await;
    let show = world.show(ONE_INSIDE).await;
    let mut first = world.fan().await;
    let token = enter(&first, &show).await;
    first.wait_inside(&show).await;
    first.leave(&show).await;
    redis.cli(&["flushall"]).unwrap();
    poll(&first.api, &show, &token, "ko").await.refused(404, "NOT_IN_QUEUE");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_on_one_node_shows_on_the_other() {
    let folder = tempfile::TempDir::with_prefix("podo-").unwrap();
    let config = crate::support::world::config(folder.path(), &[]);
    let node = async || World::on(&config, podo::bootstrap::context(&config).await.unwrap()).await;
    let (one, other) = (node().await, node().await);
    let show = one.show(Plan::default()).await;
    let fan = one.fan_inside(&show).await;
    assert_eq!(show.letter(&other.stranger, 5).await, 'A');
    let reservation = fan.hold(&show, &[5]).await;
    show.wait_for_letter(&other.stranger, 5, 'H').await;
    fan.release(&reservation).await.expect(204);
    show.wait_for_letter(&other.stranger, 5, 'A').await;
    fan.buy(&show, 5).await;
    show.wait_for_letter(&other.stranger, 5, 'S').await;
}
