//! What every engine that nodes share their strain over must do. The nodes come from `seed`, and what
//! they say is over at the end of each rule.

use super::{HEARD_FOR, Strains};
use domain::{NodeId, Timestamp};
use std::time::Duration;
use uuid::Uuid;

/// Runs every rule. `seed` differs from run to run when the engine outlives the run.
pub async fn check(strains: &dyn Strains, seed: u64, now: Timestamp) {
    the_weakest_node_decides_for_all(strains, seed, now).await;
    let later = now.plus(2 * HEARD_FOR);
    a_node_that_is_gone_slows_nobody_down(strains, seed, later).await;
    let later = later.plus(3 * HEARD_FOR);
    every_node_that_spoke_lately_counts_once(strains, seed, later).await;
}

fn node(seed: u64, number: u64) -> NodeId {
    NodeId::new(Uuid::from_u128((u128::from(seed) << 64) | u128::from(number)))
}

async fn share(strains: &dyn Strains, node: NodeId, percent: u32, now: Timestamp) -> u32 {
    strains.share(node, percent, now).await.expect("the engine answers").percent
}

async fn count(strains: &dyn Strains, node: NodeId, now: Timestamp) -> u32 {
    strains.share(node, 100, now).await.expect("the engine answers").n_nodes
}

pub async fn the_weakest_node_decides_for_all(strains: &dyn Strains, seed: u64, now: Timestamp) {
    let (one, other) = (node(seed, 1), node(seed, 2));
    assert_eq!(share(strains, one, 100, now).await, 100, "all is well");
    assert_eq!(share(strains, other, 25, now).await, 25, "a node hears its own word");
    assert_eq!(share(strains, one, 100, now).await, 25, "and so do the others");
    assert_eq!(share(strains, other, 50, now).await, 50, "the newest word counts");
    assert_eq!(share(strains, one, 10, now).await, 10);
    assert_eq!(share(strains, other, 50, now).await, 10);
}

pub async fn a_node_that_is_gone_slows_nobody_down(
    strains: &dyn Strains,
    seed: u64,
    now: Timestamp,
) {
    let (gone, here) = (node(seed, 3), node(seed, 4));
    assert_eq!(share(strains, gone, 5, now).await, 5);
    let last = now.plus(HEARD_FOR).minus(Duration::from_millis(1));
    assert_eq!(share(strains, here, 100, last).await, 5, "it may still be there");
    assert_eq!(share(strains, here, 100, now.plus(HEARD_FOR)).await, 100, "it is gone");
}

pub async fn every_node_that_spoke_lately_counts_once(
    strains: &dyn Strains,
    seed: u64,
    now: Timestamp,
) {
    let (one, other) = (node(seed, 5), node(seed, 6));
    assert_eq!(count(strains, one, now).await, 1, "a node counts itself");
    assert_eq!(count(strains, one, now).await, 1, "once, however often it speaks");
    assert_eq!(count(strains, other, now).await, 2);
    assert_eq!(count(strains, one, now).await, 2);
    assert_eq!(count(strains, one, now.plus(HEARD_FOR)).await, 1, "the other is gone");
}
