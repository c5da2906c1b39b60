//! The latency window: response times and failures of admitted fans' requests in the last seconds.

use crate::context::AppContext;
use crate::error::Result;
use crate::operations::port::node_load::REPORT_TTL;
use podo_domain::Timestamp;
use podo_domain::waiting_room::{AdmissionThrottle, Health, HealthLimits};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

const SECONDS: usize = 5;
/// Eight buckets per doubling, so that a time is overestimated by at most an eighth.
const STEPS: usize = 8;
const BUCKETS: usize = 20 * STEPS;

#[derive(Clone)]
struct Second {
    at_s: i64,
    n_requests: u64,
    n_failed: u64,
    by_ms: [u32; BUCKETS],
}

impl Second {
    const EMPTY: Second =
        Second { at_s: i64::MIN, n_requests: 0, n_failed: 0, by_ms: [0; BUCKETS] };
}

struct State {
    /// One per second, indexed by the second modulo the length.
    seconds: Vec<Second>,
    throttle: AdmissionThrottle,
    looked_at: Timestamp,
    /// The last combined report of all nodes.
    cluster: Option<(u32, Timestamp)>,
}

pub struct LatencyWindow {
    state: Mutex<State>,
}

impl Default for LatencyWindow {
    fn default() -> LatencyWindow {
        let seconds = vec![Second::EMPTY; SECONDS];
        let looked_at = Timestamp::from_ms(0);
        let throttle = AdmissionThrottle::NONE;
        LatencyWindow { state: Mutex::new(State { seconds, throttle, looked_at, cluster: None }) }
    }
}

/// Reports this node's load and reads that of the others, because a node with only the role
/// `admitter` serves no fans itself. It also counts the nodes, because rate limits are shared.
pub async fn share_node_load(context: &AppContext, now: Timestamp) -> Result<()> {
    let limits = context.rules.health_limits;
    let own =
        limits.map_or(100, |limits| context.operations.latency_window.look(limits, now).percent());
    let cluster = context.operations.node_load.share(context.node, own, now).await?;
    context.operations.rate_limits.set_nodes(cluster.n_nodes);
    if limits.is_some() {
        context.operations.latency_window.record_cluster(cluster.percent, now);
    }
    Ok(())
}

impl LatencyWindow {
    /// Records one request of an admitted fan.
    pub fn note(&self, took: Duration, has_failed: bool, now: Timestamp) {
        let mut state = self.state();
        let second = state.second(now);
        second.n_requests += 1;
        second.n_failed += u64::from(has_failed);
        second.by_ms[bucket_of(took)] += 1;
    }

    /// The combined health of the last seconds.
    pub fn health(&self, now: Timestamp) -> Health {
        self.state().health(now)
    }

    /// The percentage of the admission rate that is left, by this node's last check and by the
    /// recent reports of the others.
    pub fn percent(&self, now: Timestamp) -> u32 {
        let state = self.state();
        let own = state.throttle.percent();
        match state.cluster {
            Some((percent, at)) if now < at.plus(REPORT_TTL) => own.min(percent),
            Some(_) | None => own,
        }
    }

    /// Stores the combined report of all nodes.
    pub fn record_cluster(&self, percent: u32, now: Timestamp) {
        self.state().cluster = Some((percent, now));
    }

    /// Evaluates the window, at most once a second.
    pub fn look(&self, limits: HealthLimits, now: Timestamp) -> AdmissionThrottle {
        let mut state = self.state();
        if now.ms().abs_diff(state.looked_at.ms()) >= 1_000 {
            state.looked_at = now;
            let health = state.health(now);
            let (before, after) = (state.throttle, state.throttle.after(health, limits));
            state.throttle = after;
            if before.percent() != after.percent() {
                let (from, to) = (before.percent(), after.percent());
                tracing::warn!(
                    p99_ms = health.p99_ms,
                    failed_per_mille = health.failed_per_mille,
                    "Admission rate changed from {from} % to {to} %"
                );
            }
        }
        state.throttle
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("the lock is never poisoned")
    }
}

impl State {
    fn second(&mut self, now: Timestamp) -> &mut Second {
        let at_s = now.ms().div_euclid(1_000);
        let slot = usize::try_from(at_s.rem_euclid(SECONDS as i64)).unwrap_or(0);
        let second = &mut self.seconds[slot];
        if second.at_s != at_s {
            *second = Second { at_s, ..Second::EMPTY };
        }
        second
    }

    fn health(&self, now: Timestamp) -> Health {
        let now_s = now.ms().div_euclid(1_000);
        let is_recent =
            |second: &&Second| (0..SECONDS as i64).contains(&now_s.wrapping_sub(second.at_s));
        let recent: Vec<&Second> = self.seconds.iter().filter(is_recent).collect();
        let n_requests: u64 = recent.iter().map(|second| second.n_requests).sum();
        let n_failed: u64 = recent.iter().map(|second| second.n_failed).sum();
        let mut n_slower: u64 = n_requests / 100;
        let mut p99_ms = 0;
        for bucket in (0..BUCKETS).rev() {
            let n: u64 = recent.iter().map(|second| u64::from(second.by_ms[bucket])).sum();
            if n > n_slower {
                p99_ms = top_ms(bucket);
                break;
            }
            n_slower -= n;
        }
        let failed_per_mille = (n_failed * 1_000).checked_div(n_requests).unwrap_or(0);
        Health { n_requests, p99_ms, failed_per_mille }
    }
}

/// Below eight milliseconds each value has its own bucket; above, each doubling has eight.
fn bucket_of(took: Duration) -> usize {
    let ms = usize::try_from(took.as_millis()).unwrap_or(usize::MAX);
    if ms < STEPS {
        return ms;
    }
    let octave = (ms / STEPS).ilog2() as usize;
    ((octave + 1) * STEPS + (ms >> octave) - STEPS).min(BUCKETS - 1)
}

/// The longest time in the bucket.
fn top_ms(bucket: usize) -> u64 {
    if bucket < STEPS {
        return bucket as u64;
    }
    let (octave, step) = (bucket / STEPS - 1, bucket % STEPS);
    (((STEPS + step + 1) << octave) - 1) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(1_900_000_000_000 + ms)
    }

    #[test]
    fn a_time_is_overestimated_by_an_eighth_at_most() {
        for ms in (0..100_000).step_by(7) {
            let told = top_ms(bucket_of(Duration::from_millis(ms)));
            assert!(ms <= told && told - ms <= ms / STEPS as u64, "{ms} {told}");
        }
    }

    #[test]
    fn the_slowest_of_a_hundred_does_not_count_but_the_second_does() {
        let latency_window = LatencyWindow::default();
        for _ in 0..99 {
            latency_window.note(Duration::from_millis(3), false, at(0));
        }
        latency_window.note(Duration::from_secs(4), true, at(0));
        let health = latency_window.health(at(0));
        assert_eq!(health, Health { n_requests: 100, p99_ms: 3, failed_per_mille: 10 });
        latency_window.note(Duration::from_secs(4), true, at(999));
        assert!(latency_window.health(at(999)).p99_ms >= 4_000);
        assert_eq!(
            latency_window.health(at(5_000)),
            Health::default(),
            "five seconds later it is over"
        );
    }

    #[test]
    fn it_looks_once_a_second_however_often_it_is_asked() {
        let latency_window = LatencyWindow::default();
        let limits = HealthLimits { p99_ms: 1_000, failed_per_mille: 50 };
        for _ in 0..100 {
            latency_window.note(Duration::from_secs(2), false, at(0));
        }
        for ms in 0..1_000 {
            assert_eq!(latency_window.look(limits, at(ms)).percent(), 100);
        }
        assert_eq!(latency_window.look(limits, at(1_000)).percent(), 50);
        assert_eq!(latency_window.percent(at(1_000)), 50);
    }

    #[test]
    fn what_others_bear_counts_for_a_while() {
        let latency_window = LatencyWindow::default();
        latency_window.record_cluster(25, at(0));
        assert_eq!(
            (latency_window.percent(at(4_999)), latency_window.percent(at(5_000))),
            (25, 100)
        );
    }
}
