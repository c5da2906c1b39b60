//! A running queue moves from process memory to Redis and back: with the same store and the same
//! secret, no place is lost (Q11).

use crate::support::client::{Answer, Api, send, text};
use crate::support::fan::Fan;
use crate::support::world::{Plan, Show, World, config, until};
use podo_domain::waiting_room::RETURN_WINDOW;
use podo_testbed::Redis;
use reqwest::Method;
use serde_json::json;
use std::path::Path;
use std::time::Duration;

const N_FANS: usize = 6;

/// The same store and secret, with another live engine.
async fn world_on(folder: &Path, live_url: &str) -> World {
    let config = config(folder, &[("PODO_LIVE_URL", live_url)]);
    World::on(&config, podo::bootstrap::context(&config).await.unwrap()).await
}

async fn poll(api: &Api, show: &Show, token: &str) -> Answer {
    let path = format!("/api/queue/status?scheduleId={}", show.schedule);
    send(api.call(Method::GET, &path).header("Queue-Token", token)).await
}

/// All poll with their place token, the last first; then all have their old positions.
async fn assert_in_order(world: &World, show: &Show, waiting: &[(String, u64)]) {
    for (token, number) in waiting.iter().rev() {
        let view = poll(&world.stranger, show, token).await.expect(200);
        assert_eq!((&view["state"], &view["number"]), (&json!("WAITING"), &json!(number)));
    }
    for (index, (token, _)) in waiting.iter().enumerate() {
        until("the order is as before", async || {
            let view = poll(&world.stranger, show, token).await.expect(200);
            (view["position"] == index as u64 + 1).then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_queue_moves_to_redis_and_back_and_every_fan_keeps_the_place() {
    let folder = tempfile::TempDir::with_prefix("podo-").unwrap();
    let redis = Redis::start().unwrap();
    let world = world_on(folder.path(), "memory:").await;
    let show = world.show(Plan { max_active: 1, ..Plan::default() }).await;
    let inside = world.fan_inside(&show).await;
    let fans = world.fans(N_FANS).await;
    let mut waiting = Vec::new();
    for fan in &fans {
        let view = fan.enter(&show).await.expect(200);
        waiting.push((text(&view, "token"), view["number"].as_u64().unwrap()));
    }
    let tokens: Vec<String> = fans.iter().map(|fan| fan.api.token().to_owned()).collect();
    let (access, entry) = (inside.api.token().to_owned(), inside.api.entry().to_owned());
    world.running.stop().await;

    for live_url in [redis.url().as_str(), "memory:"] {
        let world = world_on(folder.path(), live_url).await;
        assert_in_order(&world, &show, &waiting).await;
        let late = world.fan().await.enter(&show).await.expect(200);
        assert_eq!(late["ahead"], N_FANS as u64, "a newcomer stands behind all of them");
        let live = format!("/api/admin/schedules/{}/live", show.schedule);
        assert_eq!(world.organiser.get(&live).await.expect(200)["active"], 1);
        world.running.stop().await;
    }

    let world = world_on(folder.path(), &redis.url()).await;
    assert_in_order(&world, &show, &waiting).await;
    let api = world.stranger.with_token(&access).with_entry(&entry);
    let inside = Fan { id: inside.id, api };
    inside.select(&show, &[0]).await.expect(201);
    inside.leave(&show).await;
    let first = poll(&world.stranger, &show, &waiting[0].0).await.expect(200);
    assert_eq!(first["state"], "WAITING", "others may still be on their way");
    world.clock.advance(RETURN_WINDOW + Duration::from_secs(1));
    for ((fan, access), (_, number)) in fans.iter().zip(&tokens).zip(&waiting) {
        let mut fan = Fan { id: fan.id, api: world.stranger.with_token(access) };
        fan.wait_inside(&show).await;
        assert_eq!(fan.status(&show).await.expect(200)["number"], *number, "in order");
        fan.leave(&show).await;
    }
}
