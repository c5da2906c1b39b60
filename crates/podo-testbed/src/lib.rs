//! Starts real programs for tests: on free loopback ports, in temporary folders, stopped when
//! dropped.
//!
//! Nothing of ours is mocked. A test that needs PostgreSQL, Redis, Kafka, nginx or another `podo`
//! process starts one here and gets a value that stops it on drop, even when the test panics or is
//! killed. Payment companies, an identity provider and a mail server have stand-ins that speak the
//! real wire formats ([`gateways`], [`stand_ins`]).
//!
//! ```no_run
//! use podo_testbed::{Launch, Postgres, Redis};
//!
//! let (postgres, redis) = (Postgres::start()?, Redis::start()?);
//! postgres.create_database("podo")?;
//! let mut podo = Launch::new("target/debug/podo")
//!     .env("PODO_STORE_URL", postgres.url("podo"))
//!     .env("PODO_LIVE_URL", redis.url())
//!     .start()?;
//! println!("ready at {}", podo.url());
//!
//! podo.kill_9()?; // as a power cut would
//! podo.restart()?; // the same data, the same port
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Faults come from here too: [`Proxy`] delays, cuts or swallows bytes between two programs,
//! [`VolatileDisk`] loses writes that weren't synced, and [`SkewedClock`] shows a process another
//! time.
//!
//! A missing program is an error with the name of the package to install ([`NotStarted`]); no test
//! is skipped because of it.

pub mod disk;
mod engine;
pub mod gateways;
pub mod kafka;
pub mod network;
pub mod podo;
pub mod postgres;
pub mod preload;
pub mod redis;
pub mod stand_ins;

pub use disk::VolatileDisk;
pub use engine::not_started::NotStarted;
pub use gateways::Gateways;
pub use kafka::Kafka;
pub use network::nginx::Nginx;
pub use network::proxy::{Fault, Proxy};
pub use podo::{Launch, Podo};
pub use postgres::Postgres;
pub use preload::SkewedClock;
pub use redis::{Redis, RedisCluster};
pub use stand_ins::identity_provider::IdentityProvider;
pub use stand_ins::post_box::{MailServer, PostBox, Received};
pub use stand_ins::s3::S3;
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
