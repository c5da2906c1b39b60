//! The waiting rooms' durable state: number blocks, history, log, samples.

pub(crate) mod blocks;
pub(crate) mod history;
pub(crate) mod log;
pub(crate) mod samples;
