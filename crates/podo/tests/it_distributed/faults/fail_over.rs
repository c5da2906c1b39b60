//! The PostgreSQL primary is lost in the middle of a sale, and its synchronous standby is promoted:
//! the nodes find it by themselves, and nothing acknowledged is lost.

use crate::nodes::sale::{Sale, prepare};
use crate::support::world::until_within;
use crate::system::System;
use std::time::{Duration, Instant};
use tokio::task::block_in_place;

/// From the promotion to the next purchases.
const SELLS_WITHIN: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_secs(60);

/// What `podo doctor` reports about this.
fn told(system: &System, what: &str) -> String {
    let (_, said) = system.podo(&["doctor"]);
    let line = said.lines().find(|line| line.contains(what));
    line.unwrap_or_else(|| panic!("nothing about {what}: {said}")).to_owned()
}

/// Applies as soon as the server has reloaded its settings.
fn set(system: &System, change: &str, setting: &str, value: &str) {
    system.ask(&format!("alter system {change}"));
    system.ask("select pg_reload_conf()");
    while system.ask(&format!("show {setting}")) != value {
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_says_what_a_fail_over_would_lose() {
    let system = block_in_place(System::with_synchronous_standby);
    assert!(told(&system, "replication").starts_with("ok"), "{}", told(&system, "replication"));
    set(&system, "set synchronous_commit = off", "synchronous_commit", "off");
    assert!(told(&system, "replication").contains("synchronous_commit = off"));
    set(&system, "reset synchronous_commit", "synchronous_commit", "on");
    set(&system, "reset synchronous_standby_names", "synchronous_standby_names", "");
    let said = told(&system, "replication");
    assert!(said.starts_with("--") && said.contains("synchronous_standby_names"), "{said}");
}

/// Sells on two nodes that know both servers; `lose` takes the primary away in the middle.
async fn sell_through(lose: impl FnOnce(&mut System)) {
    let mut system = block_in_place(System::with_synchronous_standby);
    let (show, buyers) = prepare(&system).await;
    let limit = [("PODO_STORE_STATEMENT_TIMEOUT_MS", "2000".to_owned())];
    let nodes = [(); 2].map(|()| system.node_with("api,admitter,worker", &limit));
    let sale = Sale::new(show, &[nodes[0].url(), nodes[1].url()]);
    sale.run(buyers, async || {
        block_in_place(|| {
            lose(&mut system);
            system.promote_standby();
        });
        let (start, n_before) = (Instant::now(), sale.n_bought());
        until_within(PATIENCE, "the nodes sell again", async || {
            (sale.n_bought() > n_before).then_some(())
        })
        .await;
        assert!(start.elapsed() < SELLS_WITHIN, "sold again after {:?}", start.elapsed());
    })
    .await;
    sale.check(&system).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_primary_dies_and_its_standby_is_promoted() {
    sell_through(|system| system.postgres.stop_immediate().unwrap()).await;
}

/// It neither responds nor terminates, and still accepts connections.
#[tokio::test(flavor = "multi_thread")]
async fn the_primary_freezes_and_its_standby_is_promoted() {
    sell_through(|system| system.postgres.pause().unwrap()).await;
}
