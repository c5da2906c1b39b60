//! Load control: rate limits over all nodes, and the latency window that throttles admission.

pub mod latency_window;
pub mod limits;
pub mod rate_limits;
pub mod turns;
