//! What Podo publishes, and how deliveries are retried.

pub mod announcements;
pub mod messages;
pub mod resends;
pub mod webhook_endpoints;
