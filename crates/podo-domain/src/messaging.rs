//! What Podo publishes, and how deliveries are retried.

pub mod messages;
pub mod webhook_endpoints;
