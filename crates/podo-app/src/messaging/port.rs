//! Ports of messaging: the store, the bus and the channels.

pub mod announcements;
pub mod bus;
pub mod channels;
pub mod dead_letters;
pub mod messages;
pub mod notifications;
pub mod webhook_client;
pub mod webhook_endpoints;
