//! The outbox and notifications.

#[path = "messaging/messages.rs"]
pub(crate) mod messages;
#[path = "messaging/notifications.rs"]
pub(crate) mod notifications;
