//! The outbox and its workers.

#[path = "messaging/messages.rs"]
pub(crate) mod messages;
#[path = "messaging/workers.rs"]
pub(crate) mod workers;
