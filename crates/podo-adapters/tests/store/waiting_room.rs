//! The waiting rooms' durable state.

#[path = "waiting_room/blocks.rs"]
pub(crate) mod blocks;
#[path = "waiting_room/history.rs"]
pub(crate) mod history;
#[path = "waiting_room/log.rs"]
pub(crate) mod log;
#[path = "waiting_room/samples.rs"]
pub(crate) mod samples;
