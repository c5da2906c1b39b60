//! The contract of every rate limiter. Each rule uses fresh keys derived from `seed`, so that the
//! suite can run repeatedly against a shared engine.

use crate::operations::throttling::limits::{Allowance, Limits, Quota};
use podo_domain::Timestamp;
use std::time::Duration;

/// Runs every rule. `seed` must differ between runs if the engine outlives them.
pub async fn check(limits: &dyn Limits, seed: u64, now: Timestamp) {
    a_burst_passes_at_one_instant_and_no_more(limits, seed, now).await;
    the_refill_is_steady(limits, seed, now).await;
    a_long_rest_saves_up_one_burst_only(limits, seed, now).await;
    a_client_that_keeps_retrying_passes_again(limits, seed, now).await;
    the_reported_wait_is_long_enough(limits, seed, now).await;
    keys_do_not_disturb_each_other(limits, seed, now).await;
    a_clock_set_back_does_not_lock_callers_out(limits, seed, now).await;
}

/// Five at once, one every two seconds.
const QUOTA: Quota = Quota { burst: 5, period: Duration::from_secs(10) };

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

async fn take(limits: &dyn Limits, key: &str, now: Timestamp) -> Allowance {
    limits.take(key, QUOTA, now).await.expect("the engine answers")
}

async fn passes(limits: &dyn Limits, key: &str, now: Timestamp) -> bool {
    match take(limits, key, now).await {
        Allowance::Yes { .. } => true,
        Allowance::No { .. } => false,
    }
}

/// How many of `n` requests at one instant pass.
async fn count(limits: &dyn Limits, key: &str, n: u32, now: Timestamp) -> u32 {
    let mut n_passed = 0;
    for _ in 0..n {
        n_passed += u32::from(passes(limits, key, now).await);
    }
    n_passed
}

pub async fn a_burst_passes_at_one_instant_and_no_more(
    limits: &dyn Limits,
    seed: u64,
    now: Timestamp,
) {
    let key = format!("contract:{seed}:burst");
    for left in (0..QUOTA.burst).rev() {
        let answer = take(limits, &key, now).await;
        assert_eq!(answer, Allowance::Yes { left }, "the burst is counted down");
    }
    assert!(!passes(limits, &key, now).await, "the burst is used up");
}

pub async fn the_refill_is_steady(limits: &dyn Limits, seed: u64, now: Timestamp) {
    let key = format!("contract:{seed}:refill");
    count(limits, &key, QUOTA.burst, now).await;
    assert!(!passes(limits, &key, now.plus(ms(1_999))).await, "the next is not due yet");
    assert!(passes(limits, &key, now.plus(ms(2_000))).await, "one more every two seconds");
    assert!(!passes(limits, &key, now.plus(ms(2_001))).await, "and only one");
    let mut n_passed = 0;
    for step in 1..=600 {
        n_passed += u32::from(passes(limits, &key, now.plus(ms(2_001 + step * 100))).await);
    }
    assert_eq!(n_passed, 30, "a minute of retries passes the quota of a minute");
}

pub async fn a_long_rest_saves_up_one_burst_only(limits: &dyn Limits, seed: u64, now: Timestamp) {
    let key = format!("contract:{seed}:rest");
    count(limits, &key, QUOTA.burst, now).await;
    let later = now.plus(Duration::from_secs(3_600));
    let n_passed = count(limits, &key, 20, later).await;
    assert_eq!(n_passed, QUOTA.burst, "an hour of rest saves up one burst");
}

pub async fn a_client_that_keeps_retrying_passes_again(
    limits: &dyn Limits,
    seed: u64,
    now: Timestamp,
) {
    let key = format!("contract:{seed}:retrying");
    count(limits, &key, QUOTA.burst, now).await;
    for step in 0..199 {
        let has_passed = passes(limits, &key, now.plus(ms(step * 10))).await;
        assert!(!has_passed, "nothing is due within two seconds");
    }
    assert!(passes(limits, &key, now.plus(ms(2_000))).await, "a refused request costs nothing");
}

pub async fn the_reported_wait_is_long_enough(limits: &dyn Limits, seed: u64, now: Timestamp) {
    let key = format!("contract:{seed}:wait");
    count(limits, &key, QUOTA.burst, now).await;
    match take(limits, &key, now.plus(ms(500))).await {
        Allowance::Yes { .. } => panic!("the burst is used up"),
        Allowance::No { retry_after } => {
            assert_eq!(retry_after, ms(1_500), "the wait is exact");
            let then = now.plus(ms(500)).plus(retry_after);
            assert!(passes(limits, &key, then).await, "a client that waits that long passes");
        }
    }
}

pub async fn keys_do_not_disturb_each_other(limits: &dyn Limits, seed: u64, now: Timestamp) {
    let key = format!("contract:{seed}:one");
    count(limits, &key, 20, now).await;
    let other = format!("contract:{seed}:two");
    assert_eq!(count(limits, &other, 20, now).await, QUOTA.burst, "every key has its own burst");
}

pub async fn a_clock_set_back_does_not_lock_callers_out(
    limits: &dyn Limits,
    seed: u64,
    now: Timestamp,
) {
    let key = format!("contract:{seed}:clock");
    count(limits, &key, 20, now.plus(Duration::from_secs(3_600))).await;
    take(limits, &key, now).await;
    let let_in = passes(limits, &key, now.plus(QUOTA.period)).await;
    assert!(let_in, "the hour that a wrong clock was ahead is not waited for");
}
