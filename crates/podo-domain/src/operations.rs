//! Rules for running nodes: clocks, back-off, rate limits, retention.

pub mod backoff;
pub mod clock;
pub mod rate_limit;
pub mod retention;
