//! The fans' source addresses. On one machine all fans would share an address, its ports and its
//! rate limits, so a loopback server is called from many loopback addresses instead.

use crate::Target;
use std::io::{Error, Result};
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::{TcpSocket, TcpStream, lookup_host};

pub(crate) async fn find(target: &Target) -> Result<SocketAddr> {
    let found = lookup_host(&target.authority).await?.next();
    found.ok_or_else(|| Error::other(format!("{} has no address", target.authority)))
}

/// Connects from the source address with this number. A remote server sees one address for all.
pub(crate) async fn connect(server: SocketAddr, number: usize) -> Result<TcpStream> {
    let stream = if server.ip() == Ipv4Addr::LOCALHOST {
        let socket = TcpSocket::new_v4()?;
        socket.bind((address(number), 0).into())?;
        socket.connect(server).await?
    } else {
        TcpStream::connect(server).await?
    };
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Addresses of 127.0.0.0/8 in turn, some 64,000 of them, without the server's own.
fn address(number: usize) -> Ipv4Addr {
    let [.., high, low] = (number % 0xff00).to_be_bytes();
    Ipv4Addr::new(127, 0, high + 1, low)
}

#[test]
fn households_have_addresses_of_their_own() {
    let all: std::collections::HashSet<_> = (0..60_000).map(address).collect();
    assert_eq!(all.len(), 60_000);
    assert!(all.iter().all(|home| home.is_loopback() && *home != Ipv4Addr::LOCALHOST));
}
