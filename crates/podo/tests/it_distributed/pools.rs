//! The metrics of the PostgreSQL connection pools.

use crate::engine;
use crate::support::fan::Fan;
use crate::support::world::{World, config, until};
use futures::future::join_all;
use podo::bootstrap;
use std::path::Path;
use tempfile::TempDir;

/// The value of one series; `None` if it is missing.
async fn value(world: &World, series: &str) -> Option<f64> {
    let metrics = world.stranger.get("/metrics").await.text;
    let mut values = metrics.lines().filter_map(|line| line.strip_prefix(series));
    values.next().map(|value| value.trim().parse().unwrap())
}

/// Waits until a series has this value, or more.
async fn wait_for(world: &World, series: &str, wanted: f64) {
    let what = format!("{series} is {wanted}");
    let is_there = async || value(world, series).await.is_some_and(|value| value >= wanted);
    until(&what, async || is_there().await.then_some(())).await;
}

/// Locks the accounts until `let_go`.
fn lock_accounts(data: &Path) -> std::thread::JoinHandle<()> {
    let data = data.to_owned();
    std::thread::spawn(move || {
        let sql = "begin; lock table user_service.users in access exclusive mode; \
                   select pg_sleep(600)";
        engine::psql(&data, sql).expect_err("it is ended from outside");
    })
}

fn let_go(data: &Path) {
    let sql = "select pg_terminate_backend(pid) from pg_stat_activity
                where query like '%pg_sleep(600)%' and pid <> pg_backend_pid()";
    assert_eq!(engine::psql(data, sql).unwrap(), "t");
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_show_every_pool_and_what_waits_for_its_connections() {
    engine::be_alone();
    let folder = TempDir::with_prefix("podo-").unwrap();
    let settings = [
        // Only fans query accounts: jobs run elsewhere.
        ("PODO_ROLES", "api,admitter"),
        ("PODO_STORE_ROLE_CONNECTIONS", "user=2,event=3,sales=4,worker=5,readonly=6"),
        ("PODO_STORE_STATEMENT_TIMEOUT_MS", "60000"),
        ("PODO_STORE_LOCK_TIMEOUT_MS", "60000"),
    ];
    let mut config = config(folder.path(), &settings);
    let database = config.store_url.rsplit_once('/').unwrap().1.to_owned();
    let replica = engine::replica();
    config.replica_urls = vec![replica.url(&database)];
    let world = World::on(&config, bootstrap::context(&config).await.unwrap()).await;
    for (pool, server, max) in [
        ("user", "primary", 2.0),
        ("event", "primary", 3.0),
        ("sales", "primary", 4.0),
        ("worker", "primary", 5.0),
        ("readonly", "primary", 6.0),
        ("batches", "primary", 3.0),
        ("readonly", "replica-1", 4.0),
    ] {
        let series = format!("podo_store_connections_max{{pool=\"{pool}\",server=\"{server}\"}}");
        assert_eq!(value(&world, &series).await, Some(max), "{series}");
    }
    let user = |name: &str, more: &str| {
        format!("podo_store_connection{name}{{pool=\"user\",server=\"primary\"{more}}}")
    };
    let (in_use, idle) = (user("s", ",state=\"in_use\""), user("s", ",state=\"idle\""));
    let waits_before = value(&world, &user("_wait_seconds_count", "")).await.unwrap();

    let fans = world.fans(3).await;
    let lock = lock_accounts(folder.path());
    let locked = "select count(*) from pg_locks where mode = 'AccessExclusiveLock' and granted
                     and relation = 'user_service.users'::regclass";
    let is_locked = || engine::psql(folder.path(), locked).unwrap() == "1";
    until("the accounts are locked", async || is_locked().then_some(())).await;
    let ask = async |fan: &Fan| fan.api.get("/api/users/me").await.status;
    let watch = async {
        wait_for(&world, &in_use, 2.0).await;
        wait_for(&world, &user("s_waiting", ""), 1.0).await;
        wait_for(&world, &user("_failures_total", ",reason=\"timeout\""), 1.0).await;
        let_go(folder.path());
    };
    let (mut statuses, ()) = futures::join!(join_all(fans.iter().map(ask)), watch);
    lock.join().unwrap();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 503]);
    wait_for(&world, &idle, 2.0).await;
    assert_eq!(value(&world, &user("s_waiting", "")).await, Some(0.0));
    let waits = value(&world, &user("_wait_seconds_count", "")).await.unwrap();
    assert!(waits >= waits_before + 2.0, "{waits_before} {waits}");
    let all = "podo_store_connection_wait_seconds_bucket\
               {le=\"+Inf\",pool=\"user\",server=\"primary\"}";
    assert_eq!(value(&world, all).await, Some(waits));
}
