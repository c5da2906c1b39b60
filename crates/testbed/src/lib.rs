//! Starts real programs for tests: on free ports, in temp folders, gone when dropped.

pub mod disk;
mod engine;
pub mod gateways;
pub mod http;
pub mod identity_provider;
pub mod kafka;
pub mod nginx;
mod not_started;
mod output;
pub mod podo;
pub mod post_box;
pub mod postgres;
pub mod preload;
pub mod proxy;
pub mod redis;

pub use disk::VolatileDisk;
pub use gateways::Gateways;
pub use identity_provider::IdentityProvider;
pub use kafka::Kafka;
pub use nginx::Nginx;
pub use not_started::NotStarted;
pub use podo::{Launch, Podo};
pub use post_box::{MailServer, PostBox};
pub use postgres::Postgres;
pub use preload::SkewedClock;
pub use proxy::{Fault, Proxy};
pub use redis::{Redis, RedisCluster};
pub use tempfile::TempDir;

use std::net::{Ipv4Addr, TcpListener};

/// A port that was free a moment ago. Prefer port 0 where the program can tell which it got.
pub fn free_port() -> std::io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

#[test]
fn a_free_port_can_be_bound() {
    let port = free_port().unwrap();
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
}
