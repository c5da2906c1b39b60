//! With what Podo does it: engines behind the ports.

pub mod clock;
pub mod gateways;
#[cfg(feature = "kafka")]
pub mod kafka;
pub mod memory;
pub mod notify;
pub mod otlp;
pub mod passwords;
pub mod redis;
pub mod social;
pub mod sql;
