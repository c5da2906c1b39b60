//! One node leads, and its fence distinguishes it from earlier leaders.

use crate::world::{World, at};
use futures::future::join_all;
use podo_app::operations::port::leases::{Lease, Leases, TakeLease};
use podo_domain::{NodeId, Timestamp};

const LENGTH_S: i64 = 10;

/// Takes the lease of `relay` as a node, `seconds` after the opening.
async fn take(world: &World, holder: NodeId, seconds: i64) -> Option<Lease> {
    let (until, now) = (at(seconds + LENGTH_S), at(seconds));
    let command = TakeLease { job: "relay", holder, until, now };
    world.store.take_lease(command).await.unwrap()
}

fn node(world: &World) -> NodeId {
    NodeId::new(world.id())
}

#[tokio::test]
async fn of_many_nodes_that_start_together_one_leads() {
    let world = World::new().await;
    let nodes: Vec<NodeId> = (0..40).map(|_| node(&world)).collect();
    let taken = join_all(nodes.iter().map(|holder| take(&world, *holder, 0))).await;
    assert_eq!(taken.iter().flatten().count(), 1);
    world.finish().await;
}

#[tokio::test]
async fn a_lease_lasts_to_its_end_and_then_goes_to_the_next_node() {
    let world = World::new().await;
    let (first, second) = (node(&world), node(&world));
    let lease = take(&world, first, 0).await.unwrap();
    assert_eq!((lease.fence, lease.until), (1, at(LENGTH_S)));
    assert_eq!(take(&world, second, LENGTH_S - 1).await, None);
    assert_eq!(take(&world, second, LENGTH_S).await.unwrap().fence, 2);
    assert_eq!(take(&world, first, LENGTH_S).await, None, "it passed to the second");
    world.finish().await;
}

#[tokio::test]
async fn a_lease_keeps_its_fence_while_it_is_renewed_in_time() {
    let world = World::new().await;
    let holder = node(&world);
    let fence = async |seconds| take(&world, holder, seconds).await.unwrap().fence;
    assert_eq!((fence(0).await, fence(5).await, fence(14).await), (1, 1, 1));
    assert_eq!(fence(14 + LENGTH_S).await, 2, "another node may have led in between");
    world.finish().await;
}

#[tokio::test]
async fn a_lease_that_is_given_up_is_free_at_once_but_never_another_nodes() {
    let world = World::new().await;
    let (first, second) = (node(&world), node(&world));
    let old = take(&world, first, 0).await.unwrap();
    world.store.give_up_lease(old.clone()).await.unwrap();
    let new = take(&world, second, 1).await.unwrap();
    assert!(old.fence < new.fence);
    world.store.give_up_lease(old).await.unwrap();
    assert_eq!(take(&world, first, 3).await, None, "the second still leads");
    let leads = async |holder, now: Timestamp| world.store.leads_of(holder, now).await.unwrap();
    assert_eq!(leads(second, at(3)).await, ["relay"]);
    assert!(leads(first, at(3)).await.is_empty() && leads(second, at(99)).await.is_empty());
    world.finish().await;
}

#[tokio::test]
async fn a_lease_from_a_clock_that_ran_ahead_is_not_waited_for() {
    let world = World::new().await;
    let (ahead, right) = (node(&world), node(&world));
    take(&world, ahead, LENGTH_S).await.unwrap();
    assert_eq!(take(&world, right, 0).await, None, "clocks differ a little");
    take(&world, ahead, 3_600).await.unwrap();
    let fence = take(&world, right, 0).await.unwrap().fence;
    assert_eq!(fence, 3, "the one from the future is fenced off");
    world.finish().await;
}
