//! What stands between programs: a proxy that injects faults, and nginx.

pub mod http;
pub mod nginx;
pub mod proxy;
