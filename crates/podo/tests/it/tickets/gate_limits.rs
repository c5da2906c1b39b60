//! The budgets of a gate, which are beside those of its user and its address.

use super::scan;
use crate::support::client::Api;
use crate::support::world::{Plan, Show, World};
use futures::future::join_all;
use podo_domain::identity::permissions::{Membership, TeamRole};
use std::collections::BTreeMap;

/// Limits as in production, on a clock that stands still, so that all calls fall into one moment.
async fn limited(settings: &[(&str, &str)]) -> (World, Show) {
    let world = World::with(&[&[("PODO_LIMITS", "on")], settings].concat()).await;
    let show = world.show(Plan::default()).await;
    world.clock.stop_at(world.context().now());
    (world, show)
}

/// How often each status was answered to this many scans of an unknown code.
async fn scans(gate: &Api, show: &Show, n: usize) -> BTreeMap<u16, usize> {
    let body = scan(show, "1", "PODO1.AAAA");
    let mut found = BTreeMap::new();
    // Fewer at once than one address may have connections.
    for first in (0..n).step_by(50) {
        let scans = (first..n.min(first + 50)).map(|_| gate.post("/api/admin/checkin", &body));
        for answer in join_all(scans).await {
            *found.entry(answer.status).or_default() += 1;
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn gates_behind_one_address_scan_more_than_a_fan_may_call() {
    let (world, show) = limited(&[]).await;
    let steward = world.member(Membership::preset(TeamRole::Gate)).await;
    assert_eq!(scans(&steward, &show, 300).await, BTreeMap::from([(422, 300)]));
    let path = format!("/api/admin/schedules/{}/attendance", show.schedule);
    for _ in 0..150 {
        steward.get(&path).await.expect(200);
    }
    // Callers without a steward's login have the ordinary budget of the address.
    let strangers = scans(&world.stranger, &show, 120).await;
    assert!(strangers[&429] >= 20, "{strangers:?}");
    assert_eq!(scans(&steward, &show, 1).await, BTreeMap::from([(422, 1)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_budget_of_a_steward_has_an_end() {
    let (world, show) = limited(&[("PODO_GATE_REQUESTS_PER_MINUTE_PER_USER", "5")]).await;
    assert_eq!(scans(&world.organiser, &show, 7).await, BTreeMap::from([(422, 5), (429, 2)]));
}

/// On its own, because nodes that share a Redis share the budget of an address.
#[tokio::test(flavor = "multi_thread")]
async fn the_budget_of_a_gate_s_address_has_an_end() {
    let (world, show) = limited(&[("PODO_GATE_REQUESTS_PER_SECOND_PER_IP", "4")]).await;
    let found = scans(&world.organiser, &show, 7).await;
    assert_eq!(found, BTreeMap::from([(422, 4), (429, 3)]));
    let refused = world.organiser.post("/api/admin/checkin", &scan(&show, "1", "x")).await;
    assert!(!refused.header("retry-after").is_empty(), "{refused:?}");
}
