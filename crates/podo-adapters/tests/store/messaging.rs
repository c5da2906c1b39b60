//! The outbox and its workers.

#[path = "messaging/announcements.rs"]
pub(crate) mod announcements;
#[path = "messaging/messages.rs"]
pub(crate) mod messages;
#[path = "messaging/workers.rs"]
pub(crate) mod workers;
