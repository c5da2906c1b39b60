//! The contract of every engine that shares node load. The nodes are derived from `seed`, and their
//! reports expire between rules.

use crate::operations::port::node_load::{NodeLoad, REPORT_TTL};
use podo_domain::{NodeId, Timestamp};
use std::time::Duration;
use uuid::Uuid;

/// Runs every rule. `seed` must differ between runs if the engine outlives them.
pub async fn check(node_load: &dyn NodeLoad, seed: u64, now: Timestamp) {
    the_weakest_node_decides_for_all(node_load, seed, now).await;
    let later = now.plus(2 * REPORT_TTL);
    a_stopped_node_does_not_throttle_admission(node_load, seed, later).await;
    let later = later.plus(3 * REPORT_TTL);
    every_node_that_spoke_lately_counts_once(node_load, seed, later).await;
}

fn node(seed: u64, number: u64) -> NodeId {
    NodeId::new(Uuid::from_u128((u128::from(seed) << 64) | u128::from(number)))
}

async fn share(node_load: &dyn NodeLoad, node: NodeId, percent: u32, now: Timestamp) -> u32 {
    node_load.share(node, percent, now).await.expect("the engine answers").percent
}

async fn count(node_load: &dyn NodeLoad, node: NodeId, now: Timestamp) -> u32 {
    node_load.share(node, 100, now).await.expect("the engine answers").n_nodes
}

pub async fn the_weakest_node_decides_for_all(node_load: &dyn NodeLoad, seed: u64, now: Timestamp) {
    let (one, other) = (node(seed, 1), node(seed, 2));
    assert_eq!(share(node_load, one, 100, now).await, 100, "all is well");
    assert_eq!(share(node_load, other, 25, now).await, 25, "a node's own report counts");
    assert_eq!(share(node_load, one, 100, now).await, 25, "the others get it too");
    assert_eq!(share(node_load, other, 50, now).await, 50, "the newest report counts");
    assert_eq!(share(node_load, one, 10, now).await, 10);
    assert_eq!(share(node_load, other, 50, now).await, 10);
}

pub async fn a_stopped_node_does_not_throttle_admission(
    node_load: &dyn NodeLoad,
    seed: u64,
    now: Timestamp,
) {
    let (gone, here) = (node(seed, 3), node(seed, 4));
    assert_eq!(share(node_load, gone, 5, now).await, 5);
    let last = now.plus(REPORT_TTL).minus(Duration::from_millis(1));
    assert_eq!(share(node_load, here, 100, last).await, 5, "it may still be there");
    assert_eq!(share(node_load, here, 100, now.plus(REPORT_TTL)).await, 100, "it is gone");
}

pub async fn every_node_that_spoke_lately_counts_once(
    node_load: &dyn NodeLoad,
    seed: u64,
    now: Timestamp,
) {
    let (one, other) = (node(seed, 5), node(seed, 6));
    assert_eq!(count(node_load, one, now).await, 1, "a node counts itself");
    assert_eq!(count(node_load, one, now).await, 1, "once, however often it reports");
    assert_eq!(count(node_load, other, now).await, 2);
    assert_eq!(count(node_load, one, now).await, 2);
    assert_eq!(count(node_load, one, now.plus(REPORT_TTL)).await, 1, "the other is gone");
}
