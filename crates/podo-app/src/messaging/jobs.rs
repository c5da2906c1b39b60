//! Jobs of messaging: relay the outbox, deliver notifications and webhooks, replay dead letters.

pub mod announce;
pub mod deliver;
pub mod notify;
pub mod relay;
pub mod replay;
