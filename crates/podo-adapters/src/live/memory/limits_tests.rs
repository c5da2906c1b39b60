//! Tests of the rate limits in memory.

use crate::live::memory::limits::*;
use podo_app::operations::port::clock::Clock;
use podo_app::operations::throttling::rate_limits::RateLimits;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

const START: Timestamp = Timestamp::from_ms(1_900_000_000_000);

#[tokio::test]
async fn keeps_the_contract() {
    limits::contract::check(&Limits::default(), 1, START).await;
}

#[tokio::test]
async fn shared_buckets_keep_the_contract() {
    limits::shared_contract::check(&SharedBuckets::default(), 1, START).await;
}

const QUOTA: Quota = Quota::per_second(100);
const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 1));

/// A fixed clock.
struct At(Timestamp);

impl Clock for At {
    fn now(&self) -> Timestamp {
        self.0
    }
}

fn nodes(n_nodes: u32) -> Vec<RateLimits> {
    let shared = Arc::new(SharedBuckets::default());
    let node = |_| {
        let node = RateLimits::new(shared.clone());
        node.set_nodes(n_nodes);
        node
    };
    (0..n_nodes).map(node).collect()
}

async fn sync(node: &RateLimits, now: Timestamp) {
    for group in Group::all() {
        node.sync(group, &At(now)).await.unwrap();
    }
}

fn passes(node: &RateLimits, address: IpAddr, now: Timestamp) -> bool {
    matches!(node.addresses.take(&address, QUOTA, now).unwrap(), Allowance::Yes { .. })
}

fn n_reports(node: &RateLimits) -> u64 {
    node.totals.reports.load(Ordering::Relaxed)
}

#[tokio::test]
async fn an_address_spread_over_ten_nodes_has_one_budget() {
    let nodes = nodes(10);
    let mut n_passed = 0;
    // Two hundred requests a second at each, for ten seconds.
    for step in 0..2_000 {
        let now = START.plus(Duration::from_millis(5 * step));
        for node in &nodes {
            n_passed += u32::from(passes(node, ADDRESS, now));
            sync(node, now).await;
        }
    }
    let budget = 100 + 10 * 100;
    assert!((budget - 20..=budget + 10 * 25).contains(&n_passed), "{n_passed}");
}

#[tokio::test]
async fn one_node_of_ten_gives_the_whole_budget_and_the_others_know() {
    let nodes = nodes(10);
    let mut n_passed = 0;
    for _ in 0..300 {
        n_passed += u32::from(passes(&nodes[0], ADDRESS, START));
        sync(&nodes[0], START).await;
    }
    assert_eq!(n_passed, 100);
    let mut n_more = 0;
    for _ in 0..300 {
        n_more += u32::from(passes(&nodes[1], ADDRESS, START));
        sync(&nodes[1], START).await;
    }
    assert_eq!(n_more, QUOTA.report_at(10), "until the first report of the second node");
}

#[tokio::test]
async fn a_node_alone_and_quiet_keys_report_nothing() {
    let [alone] = nodes(1).try_into().ok().unwrap();
    let n_passed = (0..300).filter(|_| passes(&alone, ADDRESS, START)).count();
    sync(&alone, START).await;
    assert_eq!((n_passed, n_reports(&alone)), (100, 0));

    // A hundred thousand addresses, and one that stays below an eighth of its budget.
    let nodes = nodes(3);
    for number in 0..100_000_u32 {
        let address = Ipv4Addr::from_bits((10 << 24) + number).into();
        assert!(passes(&nodes[0], address, START));
    }
    for step in 0..100 {
        assert!(passes(&nodes[1], ADDRESS, START.plus(Duration::from_millis(100 * step))));
    }
    for node in &nodes {
        sync(node, START).await;
        assert_eq!(n_reports(node), 0);
    }
}

#[tokio::test]
async fn a_flood_of_hot_keys_is_reported_in_bounded_calls() {
    const N_ADDRESSES: u32 = 20_000;
    let nodes = nodes(3);
    for number in 0..N_ADDRESSES {
        let address = Ipv4Addr::from_bits((10 << 24) + number).into();
        assert_eq!((0..20).filter(|_| passes(&nodes[0], address, START)).count(), 20);
    }
    sync(&nodes[0], START).await;
    let n_keys = || nodes[0].totals.keys.load(Ordering::Relaxed);
    assert_eq!((n_reports(&nodes[0]), n_keys()), (8, 8 * 128));
    for _ in 0..100 {
        sync(&nodes[0], START).await;
    }
    assert_eq!(n_keys(), 8 * 1_024, "pending keys stay within the limit");
    // Keys that didn't fit into the report fall back to the node's own limit.
    let last = Ipv4Addr::from_bits((10 << 24) + N_ADDRESSES - 1).into();
    let n_passed = (0..200).filter(|_| passes(&nodes[0], last, START)).count();
    assert_eq!(n_passed, 80);
}
