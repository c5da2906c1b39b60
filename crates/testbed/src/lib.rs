//! Starts real programs for tests: on free ports, in temp folders, gone when dropped.

pub mod http;
mod output;
pub mod podo;

pub use podo::{Launch, Podo};
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
