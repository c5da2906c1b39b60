//! The store's taken seats, and who may record a repair.

use crate::world::{Plan, World, at};
use podo_adapters::sql::Guard;
use podo_app::booking::port::reconciliation::{Reconciliation, RecordHealing};
use podo_app::operations::port::invariants::Invariants;
use podo_app::operations::port::leases::{Lease, Leases, TakeLease};
use podo_app::{Error, Result};
use podo_domain::booking::reconciliation::{Claim, Kind};
use podo_domain::{NodeId, Timestamp};
use std::collections::BTreeMap;

#[tokio::test]
async fn claims_are_holds_in_time_and_sold_seats() {
    let world = World::new().await;
    let (fan, other) = (world.fan().await, world.fan().await);
    let held = world.hold(&fan, &[0, 1], at(1)).await.unwrap();
    world.buy(&other, &[2], at(1)).await;
    let claims = async |now| world.store.claims_of(world.schedule, now).await.unwrap();
    let mine = Claim { fan: fan.id, until: Some(held.hold_expires_at) };
    let sold = Claim { fan: other.id, until: Some(Timestamp::FAR_FUTURE) };
    assert_eq!(claims(at(2)).await, BTreeMap::from([(0, mine), (1, mine), (2, sold)]));
    let past = claims(held.hold_expires_at).await;
    assert_eq!(past, BTreeMap::from([(2, sold)]), "a hold past its time is as good as none");
    world.finish().await;
}

async fn lead(world: &World, seconds: i64) -> Lease {
    let holder = NodeId::new(world.id());
    let (until, now) = (at(seconds + 10), at(seconds));
    let command = TakeLease { job: "reconcile", holder, until, now };
    world.store.take_lease(command).await.unwrap().unwrap()
}

async fn record(world: &World, lease: Option<Lease>) -> Result<()> {
    let counts = BTreeMap::from([(Kind::Orphaned, 1)]);
    let command = RecordHealing { schedule: world.schedule, counts, lease, now: at(30) };
    world.store.record_healing(command).await
}

async fn n_audited(world: &World) -> u64 {
    let findings = world.store.check_all(at(30)).await.unwrap();
    findings.iter().find(|finding| finding.id == "I24").unwrap().n_checked
}

/// A leader is paused past its lease, another takes over, and the first continues unaware. Returns
/// the result of its next write.
async fn an_old_leader_goes_on(off: Vec<Guard>) -> (World, Result<()>) {
    let world = World::planned(Plan { off, ..Plan::default() }).await;
    let old = lead(&world, 0).await;
    record(&world, Some(old.clone())).await.unwrap();
    let new = lead(&world, 10).await;
    let late = record(&world, Some(old)).await;
    record(&world, Some(new)).await.unwrap();
    (world, late)
}

#[tokio::test]
async fn a_leader_that_was_paused_past_its_lease_is_refused() {
    let (world, late) = an_old_leader_goes_on(Vec::new()).await;
    assert!(matches!(late, Err(Error::Unavailable(_))), "{late:?}");
    let n_before = n_audited(&world).await;
    record(&world, None).await.unwrap();
    assert_eq!(n_audited(&world).await, n_before + 1, "an operator needs no lease");
    world.finish().await;
}

/// The control: without the fence two leaders act.
#[tokio::test]
async fn without_the_fence_the_old_leader_acts_beside_the_new() {
    let (fenced, _) = an_old_leader_goes_on(Vec::new()).await;
    let (unfenced, late) = an_old_leader_goes_on(vec![Guard::Fence]).await;
    assert!(late.is_ok(), "{late:?}");
    assert_eq!(n_audited(&unfenced).await, n_audited(&fenced).await + 1);
    fenced.finish().await;
    unfenced.finish().await;
}
