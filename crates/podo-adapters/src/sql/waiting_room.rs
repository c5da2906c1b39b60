//! The waiting rooms' durable state: number blocks, history, log.

pub(crate) mod blocks;
pub(crate) mod history;
pub(crate) mod log;
