//! The outbox and notifications.

#[path = "messaging/aws.rs"]
mod aws;
#[path = "messaging/mails.rs"]
pub(crate) mod mails;
#[path = "messaging/messages.rs"]
pub(crate) mod messages;
#[path = "messaging/notifications.rs"]
pub(crate) mod notifications;
