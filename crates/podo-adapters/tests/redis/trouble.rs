//! An unreachable server admits no one, and is used again when it is back.

use crate::engine::{Engine, START};
use futures::future::join_all;
use podo_adapters::live::redis::{Address, Connection, Revocations};
use podo_app::identity::port::revocations::Revocations as _;
use podo_app::{Error, Result};
use podo_domain::SessionId;
use podo_testbed::{Proxy, Redis, RedisCluster};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use uuid::Uuid;

const SESSION: SessionId = SessionId::new(Uuid::from_u128(1));

/// Queries until the server answers; the connection recovers by itself.
async fn ask_until_answered(revocations: &Revocations) -> bool {
    let asking = async {
        loop {
            if let Ok(is_revoked) = revocations.is_revoked(SESSION, START).await {
                return is_revoked;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), asking).await.expect("the server is back")
}

fn assert_unavailable(answer: Result<bool>) {
    assert!(matches!(answer, Err(Error::Unavailable(_))), "{answer:?}");
}

#[tokio::test]
async fn an_unreachable_server_admits_no_one_until_it_is_back() {
    let mut engine = Engine::single().await;
    let revocations = Revocations::new(engine.connection());
    let until = START.plus(Duration::from_secs(900));
    revocations.revoke(SESSION, until).await.unwrap();
    engine.kill();
    assert_unavailable(revocations.is_revoked(SESSION, START).await);
    engine.restart();
    assert!(!ask_until_answered(&revocations).await, "its memory is lost");
    revocations.revoke(SESSION, until).await.unwrap();
    assert!(ask_until_answered(&revocations).await, "its scripts are sent again");
}

#[tokio::test]
async fn a_server_that_hangs_is_not_waited_for() {
    let mut engine = Engine::single().await;
    let revocations = Revocations::new(engine.connection());
    engine.pause();
    let asking = revocations.is_revoked(SESSION, START);
    let answer = tokio::time::timeout(Duration::from_secs(5), asking).await;
    engine.resume();
    assert_unavailable(answer.expect("a caller is answered in time"));
}

/// Many concurrent callers, as on a busy node: their calls during a failover must not pile up and
/// keep the client from finding the new master.
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_lost_a_master_is_used_again_when_it_has_another() {
    const N_CALLERS: u128 = 200;
    let mut engine = Engine::cluster().await;
    let revocations = Revocations::new(engine.connection());
    let session = |number| SessionId::new(Uuid::from_u128(number));
    let is_whole = AtomicBool::new(false);
    // Every caller queries until the cluster is whole again, and then for one last answer.
    let ask = async |number| {
        loop {
            let was_whole = is_whole.load(Ordering::SeqCst);
            let answer = revocations.is_revoked(session(number), START).await;
            if was_whole && answer.is_ok() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let asking = join_all((0..N_CALLERS).map(ask));
    let breaking = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        tokio::task::block_in_place(|| {
            let servers = engine.cluster_servers();
            let killed = servers.kill_master(1).unwrap();
            let has_another =
                |masters: Vec<String>| masters.len() == 3 && !masters.contains(&killed);
            while !has_another(servers.masters().unwrap()) {
                std::thread::sleep(Duration::from_millis(20));
            }
            servers.wait_until_ok().unwrap();
        });
        is_whole.store(true, Ordering::SeqCst);
    };
    let all = async { futures::join!(asking, breaking) };
    tokio::time::timeout(Duration::from_secs(60), all).await.expect("it is used again");
}

async fn connect(url: String) -> Revocations {
    let address = Address { url, prefix: "test:".into(), ..Address::default() };
    Revocations::new(Connection::open(address).await.unwrap())
}

/// How long it takes to detect a dead connection and open another.
const HEALED_WITHIN: Duration = Duration::from_secs(10);

/// The socket stays open, and everything sent over it is lost.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_falls_silent_is_opened_anew() {
    let server = Redis::start().unwrap();
    let line = Proxy::to_port(server.port()).unwrap();
    let revocations = connect(format!("redis://127.0.0.1:{}", line.port())).await;
    assert!(!revocations.is_revoked(SESSION, START).await.unwrap());
    line.swallow();
    let start = Instant::now();
    assert_unavailable(revocations.is_revoked(SESSION, START).await);
    assert!(start.elapsed() < Duration::from_secs(5), "answered after {:?}", start.elapsed());
    ask_until_answered(&revocations).await;
    assert!(start.elapsed() < HEALED_WITHIN, "healed after {:?}", start.elapsed());
}

/// The clients of a cluster that reach one of its masters through this proxy.
fn put_behind_a_line(cluster: &RedisCluster, index: usize) -> Proxy {
    let master = cluster.masters().unwrap()[index].clone();
    let node = cluster.nodes().iter().find(|node| master.ends_with(&format!(":{}", node.port())));
    let line = Proxy::to_port(node.unwrap().port()).unwrap();
    let port = line.port().to_string();
    node.unwrap().cli(&["config", "set", "cluster-announce-port", &port]).unwrap();
    let knows = |node: &Redis| node.cli(&["cluster", "slots"]).unwrap().contains(&port);
    while !cluster.nodes().iter().all(knows) {
        std::thread::sleep(Duration::from_millis(20));
    }
    line
}

/// The other masters answer all the while, which must not hide the silent one.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_of_a_cluster_that_falls_silent_is_connected_to_anew() {
    let cluster = RedisCluster::start().unwrap();
    let line = tokio::task::block_in_place(|| put_behind_a_line(&cluster, 1));
    let revocations = connect(cluster.url()).await;
    let session = |number| SessionId::new(Uuid::from_u128(number));
    let ask_all = async || {
        let asked = (0..30).map(|number| revocations.is_revoked(session(number), START));
        join_all(asked).await.into_iter().filter(Result::is_err).count()
    };
    assert_eq!(ask_all().await, 0);
    line.swallow();
    let start = Instant::now();
    let n_unanswered = ask_all().await;
    assert!((1..30).contains(&n_unanswered), "{n_unanswered} of 30");
    while ask_all().await > 0 {
        assert!(start.elapsed() < 2 * HEALED_WITHIN, "silent after {:?}", start.elapsed());
    }
    assert!(start.elapsed() < HEALED_WITHIN, "healed after {:?}", start.elapsed());
}
