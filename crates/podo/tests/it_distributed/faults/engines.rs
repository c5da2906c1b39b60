//! Engines and nodes fail in the middle of a sale: every acknowledged purchase is kept, every seat
//! is sold once, no place gets worse, and the only error is 503.

use crate::nodes::sale::{MAX_ACTIVE, N_SEATS, Sale, prepare};
use crate::support::client::Api;
use crate::support::world::until;
use crate::system::{Live, System};
use podo_testbed::network::http;
use podo_testbed::network::nginx::Group;
use podo_testbed::{Nginx, Podo, Postgres};
use std::time::Duration;
use tokio::task::block_in_place;

/// Runs a sale on two nodes with all roles, and breaks the engines in the middle.
async fn sell_while(mut system: System, hurt: impl AsyncFnOnce(&mut System)) {
    let (show, buyers) = Box::pin(prepare(&system)).await;
    let nodes = [system.node("api,admitter,worker"), system.node("api,admitter,worker")];
    let sale = Sale::new(show, &[nodes[0].url(), nodes[1].url()]);
    sale.run(buyers, async || hurt(&mut system).await).await;
    sale.check(&system).await;
}

async fn pause_s(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_is_emptied() {
    let system = System::start(Live::single());
    sell_while(system, async |system: &mut System| {
        let redis = system.live.server();
        block_in_place(|| redis.cli(&["flushall"])).unwrap();
    })
    .await;
}

/// Kills Redis, which loses everything, and restarts it after a while.
async fn lose_redis(system: &mut System, seconds: u64) {
    let redis = system.live.server();
    block_in_place(|| redis.kill_9()).unwrap();
    pause_s(seconds).await;
    block_in_place(|| redis.restart()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_is_away_for_a_second() {
    let system = System::start(Live::single());
    sell_while(system, async |system: &mut System| lose_redis(system, 1).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_is_away_for_ten_seconds() {
    let system = System::start(Live::single());
    sell_while(system, async |system: &mut System| lose_redis(system, 10).await).await;
}

/// The master that has this sale's data is killed, and its replica takes over with what was
/// replicated in time.
#[tokio::test(flavor = "multi_thread")]
async fn a_master_of_the_cluster_dies() {
    let mut system = System::start(Live::cluster());
    let (show, buyers) = Box::pin(prepare(&system)).await;
    let nodes = [system.node("api,admitter,worker"), system.node("api,admitter,worker")];
    let sale = Sale::new(show, &[nodes[0].url(), nodes[1].url()]);
    let key = format!("{{{}}}", sale.show.schedule);
    let hurt = async || {
        let cluster = system.live.servers();
        block_in_place(|| {
            let index = cluster.range_of(&key).unwrap();
            cluster.kill_master(index).unwrap();
        });
    };
    sale.run(buyers, hurt).await;
    sale.check(&system).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_crashes_and_recovers() {
    let system = System::on(Postgres::durable().unwrap(), Live::single());
    sell_while(system, async |system: &mut System| {
        let postgres = &mut system.postgres;
        block_in_place(|| postgres.stop_immediate()).unwrap();
        pause_s(2).await;
        block_in_place(|| postgres.restart()).unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_stands_still_for_five_seconds() {
    let system = System::start(Live::single());
    sell_while(system, async |system: &mut System| {
        system.postgres.pause().unwrap();
        pause_s(5).await;
        system.postgres.resume().unwrap();
    })
    .await;
}

/// Whether the node reports that it leads the relay.
pub(crate) async fn leads(node: &Podo) -> bool {
    let metrics = Api::at(node.url()).get("/metrics").await.text;
    metrics.contains(r#"podo_leads{job="relay"} 1"#)
}

/// How many fans are inside, according to a node.
async fn n_inside(node: &Podo) -> Option<u32> {
    let metrics = Api::at(node.url()).get("/metrics").await.text;
    let line = metrics.lines().find(|line| line.starts_with("podo_queue_active{"))?;
    line.rsplit_once(' ')?.1.parse().ok()
}

/// Two nodes admit and work; the leader is paused past its lease, the other takes over, and the
/// first resumes and believes that it still leads.
#[tokio::test(flavor = "multi_thread")]
async fn a_leader_is_paused_past_its_lease_and_resumed() {
    let system = System::start(Live::single());
    let (show, buyers) = Box::pin(prepare(&system)).await;
    let shop = system.node("api");
    let one = system.node("admitter,worker");
    until("the first leads", async || leads(&one).await.then_some(())).await;
    let two = system.node("admitter,worker");
    assert!(!leads(&two).await);

    let sale = Sale::new(show, &[shop.url()]);
    let hurt = async || {
        one.pause().unwrap();
        until("the second leads", async || leads(&two).await.then_some(())).await;
        one.resume().unwrap();
        for _ in 0..20 {
            let n_inside = n_inside(&shop).await.unwrap();
            assert!(n_inside <= MAX_ACTIVE, "{n_inside} are inside");
        }
        until("the first has noticed", async || (!leads(&one).await).then_some(())).await;
        assert!(leads(&two).await);
    };
    sale.run(buyers, hurt).await;
    sale.check(&system).await;
    let notifications = "select count(*), count(distinct message_id) from common.mailbox
                    where subject = '예매가 완료되었어요'";
    let expected = format!("{N_SEATS}|{N_SEATS}");
    until("each buyer has one notification", async || {
        (system.ask(notifications) == expected).then_some(())
    })
    .await;
}

/// Three nodes behind the load balancer that we ship, two admitters and two workers: one of each
/// kind is killed, one of the three comes back, and Redis is emptied in the meantime.
#[tokio::test(flavor = "multi_thread")]
async fn nodes_behind_the_load_balancer_are_killed_one_by_one() {
    let mut system = System::start(Live::single());
    let (show, buyers) = Box::pin(prepare(&system)).await;
    let start = |n_nodes: usize, roles: &str| -> Vec<Podo> {
        (0..n_nodes).map(|_| system.node(roles)).collect()
    };
    let (mut shops, mut admitters) = (start(3, "api"), start(2, "admitter"));
    let mut workers = start(2, "worker");
    let servers: Vec<_> = shops.iter().map(|node| http::address(node.url()).unwrap()).collect();
    let groups = ["queue", "booking", "payment", "catalog", "admin"]
        .map(|name| Group { name, servers: servers.clone() });
    let balancer = Nginx::start(&groups).unwrap();

    let sale = Sale::new(show, &[&balancer.url()]);
    let hurt = async || {
        let redis = system.live.server();
        block_in_place(|| {
            shops[1].kill_9().unwrap();
            redis.cli(&["flushall"]).unwrap();
            shops[1].restart().unwrap();
            admitters[0].kill_9().unwrap();
            workers[0].kill_9().unwrap();
            shops[2].kill_9().unwrap();
        });
    };
    sale.run(buyers, hurt).await;
    sale.check(&system).await;
}
