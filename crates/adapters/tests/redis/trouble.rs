//! A server that is gone lets nobody through, and is used again when it is back.

use crate::engine::{Engine, START};
use adapters::redis::Revocations;
use app::ports::revocations::Revocations as _;
use app::{Error, Result};
use domain::SessionId;
use futures::future::join_all;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use uuid::Uuid;

const SESSION: SessionId = SessionId::new(Uuid::from_u128(1));

/// Asks until the server answers; the connection comes back in its own time.
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
async fn a_server_that_is_gone_lets_nobody_through_until_it_is_back() {
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

/// Many callers at once, as on a busy node: what they ask while the cluster chooses a new master
/// must not pile up and keep the client from finding it.
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_lost_a_master_is_used_again_when_it_has_another() {
    const N_CALLERS: u128 = 200;
    let mut engine = Engine::cluster().await;
    let revocations = Revocations::new(engine.connection());
    let session = |number| SessionId::new(Uuid::from_u128(number));
    let is_whole = AtomicBool::new(false);
    // Every caller asks until the cluster is whole again, and then for one last answer.
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
