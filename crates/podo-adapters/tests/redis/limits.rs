//! Rate limits on Redis: the contracts, and several nodes that share budgets.

use crate::engine::{Engine, START};
use podo_adapters::live::redis::{Limits, SharedBuckets};
use podo_app::operations::port::clock::Clock;
use podo_app::operations::throttling::limits::{
    Allowance, Group, Quota, contract, shared_contract,
};
use podo_app::operations::throttling::rate_limits::{RateLimits, UserRoute};
use podo_domain::{Timestamp, UserId};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use uuid::Uuid;

#[tokio::test]
async fn limits_keep_the_contract_on_one_server() {
    let engine = Engine::single().await;
    contract::check(&Limits::new(engine.connection()), 1, START).await;
    engine.assert_every_key_ends();
}

#[tokio::test]
async fn limits_keep_the_contract_on_a_cluster() {
    let engine = Engine::cluster().await;
    contract::check(&Limits::new(engine.connection()), 1, START).await;
}

#[tokio::test]
async fn shared_buckets_keep_the_contract_on_one_server() {
    let engine = Engine::single().await;
    shared_contract::check(&SharedBuckets::new(engine.connection()), 1, START).await;
}

#[tokio::test]
async fn shared_buckets_keep_the_contract_on_a_cluster() {
    let engine = Engine::cluster().await;
    shared_contract::check(&SharedBuckets::new(engine.connection()), 1, START).await;
}

/// A fixed clock.
struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> Timestamp {
        START
    }
}

const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 1));
const QUOTA: Quota = Quota::per_second(100);

/// Longer than on a real node, because a busy machine isn't an unreachable server.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

async fn nodes(engine: &Engine) -> [RateLimits; 3] {
    let node = async || {
        let buckets = SharedBuckets::new(engine.another().await);
        let node = RateLimits::answered_within(ANSWER_WITHIN, Arc::new(buckets));
        node.set_nodes(3);
        node
    };
    [node().await, node().await, node().await]
}

fn passes(node: &RateLimits) -> bool {
    matches!(node.addresses.take(&ADDRESS, QUOTA, START).unwrap(), Allowance::Yes { .. })
}

fn calls(node: &RateLimits) -> bool {
    let call = UserRoute::new(UserId::new(Uuid::from_u128(7)), "/api/wallet");
    let answer = node.users.take(&call, Quota::per_minute(100), START);
    matches!(answer.unwrap(), Allowance::Yes { .. })
}

/// How many of six hundred requests in turn pass, per address and per user. The clock is fixed, so
/// nothing is refilled.
async fn count(nodes: &[RateLimits; 3]) -> [u32; 2] {
    let mut n_passed = [0, 0];
    for number in 0..600 {
        let node = &nodes[number % 3];
        n_passed[0] += u32::from(passes(node));
        n_passed[1] += u32::from(calls(node));
        for group in Group::all() {
            node.sync(group, &Stopped).await.unwrap();
        }
    }
    n_passed
}

#[tokio::test]
async fn three_nodes_share_the_budgets_of_an_address_and_of_a_user() {
    let engine = Engine::single().await;
    let n_passed = count(&nodes(&engine).await).await;
    assert!(n_passed.iter().all(|n| (100..=175).contains(n)), "{n_passed:?}");
    assert_eq!(engine.ask(&["dbsize"]), "2");
    engine.assert_every_key_ends();
}

#[tokio::test]
async fn three_nodes_share_budgets_on_a_cluster() {
    let engine = Engine::cluster().await;
    let n_passed = count(&nodes(&engine).await).await;
    assert!(n_passed.iter().all(|n| (100..=175).contains(n)), "{n_passed:?}");
}

#[tokio::test]
async fn a_node_without_its_server_goes_by_its_own_limit_and_comes_back() {
    let mut engine = Engine::single().await;
    let [node, other, _] = nodes(&engine).await;
    engine.pause();
    let start = Instant::now();
    let n_passed = (0..300).filter(|_| passes(&node)).count();
    assert_eq!(n_passed, 25, "a share, until there is an answer");
    let mut n_failed = 0;
    for group in Group::all() {
        n_failed += u32::from(node.sync(group, &Stopped).await.is_err());
    }
    assert_eq!(n_failed, 1, "one group has a key that is due");
    assert!(start.elapsed() < 3 * ANSWER_WITHIN, "waited for {:?}", start.elapsed());
    let n_passed = (0..300).filter(|_| passes(&node)).count();
    assert_eq!(n_passed, 75, "the rest of the node's own limit");

    engine.resume();
    let group = Group::of("ip:203.0.113.1");
    node.sync(group, &Stopped).await.unwrap();
    let mut n_passed = 0;
    for _ in 0..300 {
        n_passed += u32::from(passes(&other));
        other.sync(group, &Stopped).await.unwrap();
    }
    assert!(n_passed <= 50, "the other node knows the reported requests: {n_passed}");
}
