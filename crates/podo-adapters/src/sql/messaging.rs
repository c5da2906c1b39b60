//! The outbox, notifications, webhook endpoints and dead letters.

pub(crate) mod announcements;
pub(crate) mod dead_letters;
mod facts;
pub(crate) mod messages;
pub(crate) mod notifications;
pub(crate) mod outbox;
pub(crate) mod webhook_endpoints;
