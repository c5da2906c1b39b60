//! The outbox and its consumers: notifications, webhooks, dead letters.

pub mod envelope;
pub mod jobs;
pub mod notification_texts;
pub mod notifications;
pub mod port;
pub mod webhook_endpoints;
pub mod workers;
