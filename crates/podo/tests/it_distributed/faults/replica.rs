//! Two nodes and a replica: whatever a fan has done on one node, the other shows it at once.

use crate::engine;
use crate::support::client::Api;
use crate::support::world::{PRICE, Plan, Show, World, config, until};
use podo::bootstrap;
use serde_json::json;
use std::time::Duration;
use tempfile::TempDir;

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_bought_on_one_node_is_on_the_list_of_the_other_at_once() {
    engine::be_alone();
    let (here, there) = (TempDir::with_prefix("podo-").unwrap(), TempDir::new().unwrap());
    let config = config(here.path(), &[("PODO_REPLICA_LAG_MAX_MS", "20000")]);
    let first = World::on(&config, bootstrap::context(&config).await.unwrap()).await;
    let show = first.show(Plan::default()).await;
    let replica = engine::replica();
    let database = config.store_url.rsplit_once('/').unwrap().1;
    let mut config = config.clone();
    config.replica_urls = vec![replica.url(database)];
    // Another folder with the same key, so that tokens of one node are valid on the other.
    std::fs::copy(here.path().join("secret.key"), there.path().join("secret.key")).unwrap();
    config.data = there.path().to_owned();
    let second = World::on(&config, bootstrap::context(&config).await.unwrap()).await;
    for seat in 0..5 {
        let fan = first.fan_inside(&show).await;
        let bought = fan.buy(&show, seat).await;
        let elsewhere = second.stranger.with_token(fan.api.token());
        let tickets = elsewhere.get("/api/tickets").await.expect(200);
        assert_eq!(tickets["items"][0]["id"], bought.ticket);
        let reservations = elsewhere.get("/api/booking/reservations").await.expect(200);
        assert_eq!(reservations["items"][0]["status"], "CONFIRMED");
    }
    let lists = "select idx_scan from pg_stat_all_indexes where indexrelname = 'tickets_user'";
    let count = || replica.psql(database, lists).unwrap();
    until("the replica counts what it answered", async || (count() == "5").then_some(())).await;
    reports_are_the_same(&first, &second, &show).await;
    first.finish().await;
}

/// Organisers see on the node with the replica what the other node has at that moment.
async fn reports_are_the_same(first: &World, second: &World, show: &Show) {
    let organiser = second.stranger.with_token(first.organiser.token());
    let statistics = format!("/api/admin/schedules/{}/statistics", show.schedule);
    let sold = async |organiser: &Api| {
        let grades = organiser.get(&statistics).await.expect(200);
        grades["grades"][0]["sold"].clone()
    };
    until("the purchases are counted", async || (sold(&first.organiser).await == 5).then_some(()))
        .await;
    assert_eq!(sold(&organiser).await, 5);
    let fan = first.fan_inside(show).await;
    fan.buy(show, 5).await;
    let now = first.context().now().plus(Duration::from_secs(9 * 60 * 60)).to_string();
    let report = format!("/api/admin/reconciliation?day={}", &now[..10]);
    let report = organiser.get(&report).await.expect(200);
    assert_eq!((&report["payments"], &report["captured"]), (&json!(6), &json!(6 * PRICE)));
    assert_eq!(report["nDifferences"], 0);
}
