//! Limits connections. Each address has a limit. When the process can open no more, the address
//! with the most connections loses its newest one to a newcomer from another address, so that an
//! attacker with thousands of connections doesn't lock out others.

use crate::http::listener::connection::Connection;
use crate::http::listener::deadlines::Patience;
use crate::routes::network_of;
use rustix::process::{Resource, getrlimit};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;
use tokio::sync::Notify;

/// Most open connections in total: a hundred thousand streams, and a fifth more for the rest.
const CONNECTIONS_MAX: usize = 120_000;

/// File descriptors reserved for the rest of the process: the database, other servers, the log.
const OTHER_FILES: u64 = 128;

/// As many as the limit of open files allows, minus a quarter for everything else.
fn capacity() -> usize {
    let n_files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let room = n_files.saturating_sub((n_files / 4).max(OTHER_FILES)).max(1);
    usize::try_from(room).unwrap_or(usize::MAX).min(CONNECTIONS_MAX)
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Most connections per address.
    pub(crate) each_max: usize,
    pub(crate) all_max: usize,
    /// Most unsent bytes per connection.
    pub(crate) unsent_max: u64,
}

impl Limits {
    pub(crate) fn new(each_max: u32, unsent_max: u64) -> Limits {
        let each_max = usize::try_from(each_max).unwrap_or(usize::MAX);
        Limits { each_max, all_max: capacity(), unsent_max }
    }
}

pub(crate) struct ConnectionLimiter {
    limits: Limits,
    open: Mutex<Open>,
    /// Notified when a connection closes.
    left: Notify,
}

#[derive(Default)]
struct Open {
    n_open: usize,
    last: u64,
    /// By network, in the order of arrival.
    by_network: HashMap<IpAddr, BTreeMap<u64, Arc<Connection>>>,
    /// Networks by their number of connections, without trusted proxies.
    greed: BTreeSet<(usize, IpAddr)>,
}

/// An open connection; counts until dropped.
pub(crate) struct Entry {
    limiter: Arc<ConnectionLimiter>,
    network: IpAddr,
    number: u64,
    pub(crate) connection: Arc<Connection>,
}

impl ConnectionLimiter {
    pub(crate) fn new(limits: Limits) -> Arc<ConnectionLimiter> {
        Arc::new(ConnectionLimiter { limits, open: Mutex::default(), left: Notify::new() })
    }

    /// Waits until there is room, or a network with more than one connection that can lose one.
    pub(crate) async fn room(&self) {
        loop {
            let left = self.left.notified();
            if self.has_room() {
                return;
            }
            left.await;
        }
    }

    fn has_room(&self) -> bool {
        let open = self.lock();
        open.n_open < self.limits.all_max || open.greed.last().is_some_and(|(n, _)| *n > 1)
    }

    /// `None` if the address is at its limit, or if there is no room and no other address has more
    /// connections. Trusted proxies carry many clients and don't count.
    pub(crate) fn enter(
        self: &Arc<ConnectionLimiter>,
        peer: SocketAddr,
        is_proxy: bool,
    ) -> Option<Entry> {
        let network = network_of(peer.ip());
        let mut open = self.lock();
        let n_own = open.by_network.get(&network).map_or(0, BTreeMap::len);
        if n_own >= self.limits.each_max && !is_proxy {
            return None;
        }
        if open.n_open >= self.limits.all_max {
            let greediest = open.greed.last().copied();
            let (_, network) = greediest.filter(|(n_most, _)| is_proxy || n_own + 1 < *n_most)?;
            open.give_up_newest(network);
        }
        let connection = Arc::new(Connection::new(peer, self.limits.unsent_max));
        let number = open.add(network, connection.clone(), is_proxy);
        Some(Entry { limiter: self.clone(), network, number, connection })
    }

    /// Closes connections that have exceeded a deadline.
    pub(crate) fn end_overdue(&self, patience: &Patience) {
        let now = Instant::now();
        let open = self.lock();
        let all = open.by_network.values().flat_map(BTreeMap::values);
        all.filter(|it| it.is_overdue(now, patience)).for_each(|it| it.end());
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().expect("the lock is never poisoned")
    }
}

impl Open {
    fn add(&mut self, network: IpAddr, connection: Arc<Connection>, is_proxy: bool) -> u64 {
        self.n_open += 1;
        self.last += 1;
        let own = self.by_network.entry(network).or_default();
        let n_before = own.len();
        own.insert(self.last, connection);
        if !is_proxy {
            self.greed.remove(&(n_before, network));
            self.greed.insert((n_before + 1, network));
        }
        self.last
    }

    fn remove(&mut self, network: IpAddr, number: u64) {
        let Some(own) = self.by_network.get_mut(&network) else { return };
        let n_before = own.len();
        // An evicted connection no longer counts.
        if own.remove(&number).is_none() {
            return;
        }
        self.n_open -= 1;
        if n_before == 1 {
            self.by_network.remove(&network);
        }
        if self.greed.remove(&(n_before, network)) && n_before > 1 {
            self.greed.insert((n_before - 1, network));
        }
    }

    fn give_up_newest(&mut self, network: IpAddr) {
        let own = self.by_network.get(&network);
        if let Some((number, connection)) = own.and_then(BTreeMap::last_key_value) {
            let number = *number;
            connection.end();
            self.remove(network, number);
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.limiter.lock().remove(self.network, self.number);
        self.limiter.left.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limiter(each_max: usize, all_max: usize) -> Arc<ConnectionLimiter> {
        ConnectionLimiter::new(Limits { each_max, all_max, unsent_max: 1 })
    }

    fn from(last: u8) -> SocketAddr {
        ([127, 0, 0, last], 1).into()
    }

    fn is_ended(entry: &Entry) -> bool {
        futures::FutureExt::now_or_never(entry.connection.let_go()).is_some()
    }

    #[test]
    fn an_address_has_its_share_and_no_more_until_it_leaves() {
        let limiter = limiter(2, 100);
        let first = limiter.enter(from(1), false).unwrap();
        let _second = limiter.enter(from(1), false).unwrap();
        assert!(limiter.enter(from(1), false).is_none());
        assert!(limiter.enter(from(2), false).is_some(), "other addresses have their own limit");
        assert!(limiter.enter(from(1), true).is_some(), "trusted proxies are exempt");
        drop(first);
        assert!(limiter.enter(from(1), false).is_some());
        assert_eq!(limiter.lock().by_network.len(), 1, "a network without connections is removed");
        assert_eq!(limiter.lock().n_open, 1);
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_address() {
        let limiter = limiter(2, 100);
        let from = |text: &str| SocketAddr::new(text.parse().unwrap(), 1);
        let _first = limiter.enter(from("2001:db8::1"), false).unwrap();
        let _second = limiter.enter(from("2001:db8::ffff:2"), false).unwrap();
        assert!(limiter.enter(from("2001:db8::3"), false).is_none());
        assert!(limiter.enter(from("2001:db8:0:1::1"), false).is_some());
    }

    #[test]
    fn the_address_with_most_connections_loses_its_newest_to_another_address() {
        let limiter = limiter(100, 3);
        let greedy = [(); 2].map(|()| limiter.enter(from(1), false).unwrap());
        let other = limiter.enter(from(2), false).unwrap();
        assert!(
            limiter.enter(from(1), false).is_none(),
            "an address cannot evict its own connections"
        );
        let newcomer = limiter.enter(from(3), false).unwrap();
        assert_eq!(greedy.each_ref().map(is_ended), [false, true]);
        assert!(!is_ended(&other) && !is_ended(&newcomer));
        assert!(!limiter.has_room(), "no network has more than one");
        assert!(limiter.enter(from(4), false).is_none());
        drop(greedy);
        assert!(limiter.has_room());
        assert_eq!(limiter.lock().n_open, 2, "an evicted connection is not counted twice");
    }
}
