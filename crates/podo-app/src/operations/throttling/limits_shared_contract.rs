//! The contract of every engine of shared buckets. Each rule uses fresh keys derived from `seed`,
//! so that the suite can run repeatedly against one engine.

use crate::operations::throttling::limits::{Group, Quota, SharedBuckets, Usage};
use podo_domain::Timestamp;
use podo_domain::operations::rate_limit::{Report, TokenBucket};
use std::time::Duration;

/// Runs every rule. `seed` must differ between runs if the engine outlives them.
pub async fn check(buckets: &dyn SharedBuckets, seed: u64, now: Timestamp) {
    reports_add_up(buckets, seed, now).await;
    a_bucket_refills_at_the_rate_of_its_quota(buckets, seed, now).await;
    an_overdraft_is_kept_as_far_as_the_nodes_can_make_it(buckets, seed, now).await;
    a_clock_set_back_is_forgotten(buckets, seed, now).await;
    many_keys_are_counted_in_one_call(buckets, seed, now).await;
}

/// Eight at once, one every second.
const QUOTA: Quota = Quota { burst: 8, period: Duration::from_secs(8) };
const N_NODES: u32 = 3;

fn key(seed: u64, name: &str) -> String {
    format!("contract:{seed}:{name}")
}

/// Seconds until the bucket is full.
fn until_full(bucket: TokenBucket, now: Timestamp) -> i64 {
    let nanos = bucket.full_at - now.ms() * 1_000_000;
    assert_eq!(nanos % 1_000_000_000, 0, "whole tokens were taken at whole seconds");
    nanos / 1_000_000_000
}

async fn report(buckets: &dyn SharedBuckets, key: &str, taken: u32, now: Timestamp) -> i64 {
    let report = Report { quota: QUOTA, taken, n_nodes: N_NODES };
    let usage = [Usage { key: key.to_owned(), report }];
    let answer = buckets.report(Group::of(key), &usage, now).await;
    let [bucket] = answer.expect("the engine answers").try_into().expect("one bucket for one key");
    until_full(bucket, now)
}

pub async fn reports_add_up(buckets: &dyn SharedBuckets, seed: u64, now: Timestamp) {
    let (one, other) = (key(seed, "one"), key(seed, "other"));
    assert_eq!(report(buckets, &one, 2, now).await, 2, "two seconds refill two tokens");
    assert_eq!(report(buckets, &one, 3, now).await, 5, "another node took three more");
    assert_eq!(report(buckets, &other, 1, now).await, 1, "every key has its own bucket");
    assert_eq!(report(buckets, &one, 0, now).await, 5);
}

pub async fn a_bucket_refills_at_the_rate_of_its_quota(
    buckets: &dyn SharedBuckets,
    seed: u64,
    now: Timestamp,
) {
    let key = key(seed, "refill");
    assert_eq!(report(buckets, &key, 6, now).await, 6);
    let later = now.plus(Duration::from_secs(4));
    assert_eq!(report(buckets, &key, 1, later).await, 3, "four of six are refilled");
    let later = now.plus(Duration::from_secs(3_600));
    assert_eq!(report(buckets, &key, 1, later).await, 1, "an hour of rest fills it, and no more");
}

pub async fn an_overdraft_is_kept_as_far_as_the_nodes_can_make_it(
    buckets: &dyn SharedBuckets,
    seed: u64,
    now: Timestamp,
) {
    let key = key(seed, "overdraft");
    assert_eq!(report(buckets, &key, 12, now).await, 12, "four tokens are missing");
    let most = i64::from(QUOTA.burst + QUOTA.overdraft(N_NODES));
    assert_eq!(report(buckets, &key, 1_000, now).await, most);
}

pub async fn a_clock_set_back_is_forgotten(buckets: &dyn SharedBuckets, seed: u64, now: Timestamp) {
    let key = key(seed, "clock");
    report(buckets, &key, 8, now.plus(Duration::from_secs(3_600))).await;
    let most = i64::from(QUOTA.burst + QUOTA.overdraft(N_NODES));
    assert_eq!(report(buckets, &key, 1, now).await, most, "the hour is not waited for");
}

pub async fn many_keys_are_counted_in_one_call(
    buckets: &dyn SharedBuckets,
    seed: u64,
    now: Timestamp,
) {
    for group in Group::all() {
        let keys = (0..).map(|number| key(seed, &format!("many:{number}")));
        let keys = keys.filter(|key| Group::of(key) == group).take(300);
        let taken = |index: usize| u32::try_from(index % 7).expect("a remainder of seven");
        let usage: Vec<Usage> = keys
            .enumerate()
            .map(|(index, key)| {
                let report = Report { quota: QUOTA, taken: taken(index), n_nodes: N_NODES };
                Usage { key, report }
            })
            .collect();
        let answer = buckets.report(group, &usage, now).await.expect("the engine answers");
        assert_eq!(answer.len(), usage.len());
        for (index, bucket) in answer.into_iter().enumerate() {
            assert_eq!(until_full(bucket, now), i64::from(taken(index)), "the order is kept");
        }
        let nothing = buckets.report(group, &[], now).await.expect("the engine answers");
        assert!(nothing.is_empty());
    }
}
