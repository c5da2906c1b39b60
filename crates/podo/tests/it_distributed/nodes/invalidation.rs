//! A node that misses the live engine's signal invalidates its cache by the message.

use crate::support::client::text;
use crate::support::world::{Plan, Show, World, config, until};
use podo_app::messaging::workers::CACHE_INVALIDATOR;
use podo_testbed::Redis;
use reqwest::Method;
use serde_json::json;
use std::path::Path;
use std::time::Duration;
use tokio::task::block_in_place;

/// Long enough for a refresh of the seats, too short for a full reload.
const A_LOOK: Duration = Duration::from_millis(150);
const N_LOOKS_MAX: u32 = 10;

/// A node on the same store with its own live engine, and a clock that stands still: its cache
/// entries never expire.
async fn node_apart(folder: &Path, settings: &[(&str, &str)]) -> World {
    let config = config(folder, settings);
    let world = World::on(&config, podo::bootstrap::context(&config).await.unwrap()).await;
    world.clock.stop_at(world.context().now());
    world
}

async fn title(world: &World, show: &Show) -> String {
    text(&world.stranger.get(&format!("/api/events/{}", show.event)).await.expect(200), "title")
}

fn n_invalidated(world: &World) -> u64 {
    world
        .context()
        .messaging
        .worker_rounds
        .all()
        .get(CACHE_INVALIDATOR)
        .map_or(0, |tally| tally.done)
}

/// `bus` are the settings that make a node use the broker.
pub(crate) async fn who_missed_the_signal_hears_the_message(
    world: &World,
    folder: &Path,
    bus: &[(&str, &str)],
) {
    let redis = block_in_place(|| Redis::start().unwrap());
    let (url, show) = (redis.url(), world.show(Plan::default()).await);
    let apart = [("PODO_LIVE_URL", url.as_str()), ("PODO_ROLES", "api,admitter")];
    let listening = node_apart(folder, &[bus, &apart].concat()).await;
    // The control: its messages stay in its process.
    let deaf = node_apart(folder, &apart).await;
    for node in [&listening, &deaf] {
        assert_eq!(title(node, &show).await, "포도 콘서트");
        assert_eq!(show.letter(&node.stranger, 5).await, 'A');
    }

    let path = format!("/api/admin/events/{}", show.event);
    until("another node hears the new title", async || {
        // Repeated, because it may not have subscribed yet.
        let change =
            world.organiser.call(Method::PATCH, &path).json(&json!({ "title": "새 이름" }));
        crate::support::client::send(change).await.expect(200);
        tokio::time::sleep(Duration::from_millis(500)).await;
        (title(&listening, &show).await == "새 이름").then_some(())
    })
    .await;
    assert_eq!(title(&deaf, &show).await, "포도 콘서트", "it keeps what it has");

    let mut n_before = n_invalidated(&listening);
    world.fan_inside(&show).await.hold(&show, &[5]).await;
    // The first message may be one of the changes above.
    for n_looks in 1.. {
        until("it invalidates something", async || {
            (n_invalidated(&listening) > n_before).then_some(())
        })
        .await;
        n_before = n_invalidated(&listening);
        for node in [&listening, &deaf] {
            node.clock.advance(A_LOOK);
        }
        if show.letter(&listening.stranger, 5).await == 'H' {
            break;
        }
        assert!(n_looks < N_LOOKS_MAX, "no message named the seat");
    }
    assert_eq!(show.letter(&deaf.stranger, 5).await, 'A', "it got no message");
}
