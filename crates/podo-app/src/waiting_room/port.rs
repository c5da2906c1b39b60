//! Ports of the waiting room: the queue engine, number blocks, history and log.

pub mod blocks;
pub mod contract;
pub mod history;
pub mod log;
pub mod queue;
