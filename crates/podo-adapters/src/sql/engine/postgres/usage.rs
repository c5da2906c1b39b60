//! Connection pool metrics: connections in use, and how long commands wait for one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the wait histogram's buckets; the last bucket has none.
const BUCKETS_MS: [u64; 12] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000];

/// A pool's current state, and its counters since the process started.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolUsage {
    /// The pool's owner: a service, `batches` for sales batches, or `all` if services share it.
    pub pool: &'static str,
    /// `primary`, or a replica by its position in the settings: `replica-1`.
    pub server: String,
    /// The maximum number of connections.
    pub max: usize,
    pub in_use: usize,
    /// Open, and not in use.
    pub idle: usize,
    /// Commands that wait for a connection, including one being opened.
    pub waiting: usize,
    pub waits: WaitCounts,
    /// Commands that timed out waiting for a connection.
    pub timed_out: u64,
    /// Commands for which no connection could be opened.
    pub failed: u64,
}

/// Wait times of commands that got a connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WaitCounts {
    /// Upper bound in seconds, and the number of waits in this bucket only.
    pub buckets: Vec<(f64, u64)>,
    pub sum_seconds: f64,
    pub count: u64,
}

/// The counters of one pool.
#[derive(Default)]
pub(crate) struct Waits {
    buckets: [AtomicU64; BUCKETS_MS.len() + 1],
    sum_us: AtomicU64,
    timed_out: AtomicU64,
    failed: AtomicU64,
}

impl Waits {
    pub(crate) fn note(&self, waited: Duration) {
        let bucket = BUCKETS_MS.partition_point(|end| Duration::from_millis(*end) < waited);
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        let us = u64::try_from(waited.as_micros()).unwrap_or(u64::MAX);
        self.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    pub(crate) fn note_time_out(&self) {
        self.timed_out.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn note_failure(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn n_timed_out(&self) -> u64 {
        self.timed_out.load(Ordering::Relaxed)
    }

    pub(crate) fn n_failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    pub(crate) fn counts(&self) -> WaitCounts {
        let ends = BUCKETS_MS.iter().map(|ms| *ms as f64 / 1_000.0).chain([f64::INFINITY]);
        let counts = self.buckets.iter().map(|count| count.load(Ordering::Relaxed));
        let buckets: Vec<(f64, u64)> = ends.zip(counts).collect();
        WaitCounts {
            count: buckets.iter().map(|(_, count)| count).sum(),
            sum_seconds: self.sum_us.load(Ordering::Relaxed) as f64 / 1_000_000.0,
            buckets,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_counted_in_the_first_bucket_that_holds_it() {
        let waits = Waits::default();
        for us in [0, 1_000, 1_001, 5_000_000, 5_000_001] {
            waits.note(Duration::from_micros(us));
        }
        let counts = waits.counts();
        let full: Vec<(f64, u64)> =
            counts.buckets.iter().copied().filter(|(_, count)| *count > 0).collect();
        assert_eq!(full, [(0.001, 2), (0.002, 1), (5.0, 1), (f64::INFINITY, 1)]);
        assert_eq!(counts.count, 5);
        assert!((counts.sum_seconds - 10.002_002).abs() < 1e-9);
    }
}
