//! The outbox and its consumers: notifications, webhooks, dead letters.

pub mod announcements;
pub mod dead_letters;
pub mod envelope;
pub mod jobs;
pub mod notifications;
pub mod port;
pub mod templates;
pub mod webhook_endpoints;
pub mod workers;
