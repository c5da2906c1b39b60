//! Ports of the waiting room: the queue engine, number blocks, history, log and samples.

pub mod blocks;
pub mod contract;
pub mod history;
pub mod log;
pub mod queue;
pub mod samples;
