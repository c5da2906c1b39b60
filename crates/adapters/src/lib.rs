//! With what Podo does it: engines behind the ports.

pub mod clock;
pub mod gateways;
pub mod memory;
pub mod passwords;
pub mod redis;
pub mod social;
pub mod sql;
