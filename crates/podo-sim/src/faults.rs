//! The simulation's faults: lost commands, wrong clocks, and removed guards.

pub(crate) mod clocks;
pub(crate) mod injector;
pub(crate) mod mutation;
