//! Latency histograms.

use hdrhistogram::Histogram;
use std::time::Duration;

/// The histogram's maximum: longer times count as this.
const LATENCY_US_MAX: u64 = 3_600_000_000;

/// Microseconds, to three significant digits.
#[derive(Clone, Debug)]
pub struct Latencies(Histogram<u64>);

impl Default for Latencies {
    fn default() -> Latencies {
        let histogram = Histogram::new_with_bounds(1, LATENCY_US_MAX, 3);
        Latencies(histogram.expect("the bounds are constants that the histogram accepts"))
    }
}

impl Latencies {
    pub(crate) fn add(&mut self, took: Duration) {
        let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.0.saturating_record(took_us.clamp(1, LATENCY_US_MAX));
    }

    pub fn add_all(&mut self, others: &Latencies) {
        self.0 += &others.0;
    }

    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The latency that this percentage of answers doesn't exceed.
    pub fn percentile_us(&self, percent: f64) -> u64 {
        self.0.value_at_percentile(percent)
    }

    pub fn max_us(&self) -> u64 {
        self.0.max()
    }
}
