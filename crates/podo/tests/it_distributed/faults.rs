//! Failing engines, networks and clocks under several nodes.

pub(crate) mod bus;
pub(crate) mod cycles;
pub(crate) mod dead_connections;
pub(crate) mod engines;
pub(crate) mod fail_over;
pub(crate) mod live;
pub(crate) mod lost_tail;
pub(crate) mod network_faults;
pub(crate) mod node_clocks;
pub(crate) mod redelivered;
pub(crate) mod replica;
