//! Six Redis servers as one cluster: three masters, a replica each.

use crate::redis::tls::Tls;
use crate::redis::{KIND, Redis, make_tls, run};
use crate::{NotStarted, engine};
use std::io::{Error, ErrorKind, Result};

const N_NODES: usize = 6;

/// A master that is silent for a second is replaced. The slots survive a restart of their node
/// because nodes store the cluster state, and a new replica is synchronised at once.
const SETTINGS: &[&str] = &[
    "--appendonly",
    "yes",
    "--cluster-enabled",
    "yes",
    "--cluster-node-timeout",
    "1000",
    "--repl-diskless-sync-delay",
    "0",
];

/// A dedicated cluster on 127.0.0.1. Dropping it ends it.
pub struct RedisCluster {
    nodes: Vec<Redis>,
}

impl RedisCluster {
    /// Starts the nodes, joins them, and returns once all masters and replicas are ready.
    pub fn start() -> std::result::Result<RedisCluster, NotStarted> {
        RedisCluster::start_with(None)
    }

    /// Like `start`, with nodes that speak only TLS, all with one certificate.
    pub fn start_with_tls() -> std::result::Result<RedisCluster, NotStarted> {
        RedisCluster::start_with(Some(make_tls()?))
    }

    /// The certificate that a client has to trust, as PEM; empty without TLS.
    pub fn certificate(&self) -> &str {
        self.nodes[0].certificate()
    }

    fn start_with(tls: Option<Tls>) -> std::result::Result<RedisCluster, NotStarted> {
        let nodes = (0..N_NODES).map(|_| Redis::start_with(SETTINGS, tls.clone()));
        let cluster = RedisCluster { nodes: nodes.collect::<std::result::Result<_, _>>()? };
        let joined = cluster.join().and_then(|()| cluster.wait_until_ok());
        joined.map_err(|error| cluster.nodes[0].not_started(&error))?;
        Ok(cluster)
    }

    /// Its URL: `redis-cluster://127.0.0.1:12345,127.0.0.1:12346,…`, with TLS `rediss-cluster://…`.
    pub fn url(&self) -> String {
        let scheme = if self.certificate().is_empty() { "redis" } else { "rediss" };
        format!("{scheme}-cluster://{}", self.addresses().join(","))
    }

    /// The nodes in the order in which they were started, whatever their role.
    pub fn nodes(&self) -> &[Redis] {
        &self.nodes
    }

    /// The addresses of the masters in the order of their slots, as a running node knows them. Read
    /// them when needed: on a loaded machine a failover may happen at any time.
    pub fn masters(&self) -> Result<Vec<String>> {
        let node = self.living().next().ok_or_else(|| engine::not_running(KIND))?;
        Ok(masters_in(&node.cli(&["cluster", "nodes"])?))
    }

    /// Kills the master of the `index`-th range of slots and returns its address.
    pub fn kill_master(&mut self, index: usize) -> Result<String> {
        let master = self.master(index)?;
        let address = self.nodes[master].address();
        self.nodes[master].kill_9()?;
        Ok(address)
    }

    /// Stops replication from the master of the `index`-th range of slots, which continues: its
    /// writes from now on are lost with it. A replica that is only frozen would find the last
    /// writes in its socket when it wakes up.
    pub fn starve_replica(&self, index: usize) -> Result<()> {
        let master = &self.nodes[self.master(index)?];
        master.cli(&["acl", "setuser", "default", "-psync", "-sync"])?;
        engine::wait_until("the replica is cut off", || {
            master.cli(&["client", "kill", "type", "replica"])?;
            Ok(master.cli(&["info", "replication"])?.contains("connected_slaves:0"))
        })
    }

    /// The range of slots of a key: three masters share 16,384 slots.
    pub fn range_of(&self, key: &str) -> Result<usize> {
        let node = self.living().next().ok_or_else(|| engine::not_running(KIND))?;
        let slot: usize = node.cli(&["cluster", "keyslot", key])?.parse().map_err(Error::other)?;
        Ok(slot * 3 / 16_384)
    }

    fn master(&self, index: usize) -> Result<usize> {
        let masters = self.masters()?;
        let none = || Error::new(ErrorKind::NotFound, format!("no master {index} in {masters:?}"));
        let address = masters.get(index).ok_or_else(none)?;
        self.nodes.iter().position(|node| node.address() == *address).ok_or_else(none)
    }

    /// Restarts every node that isn't running.
    pub fn restart_killed(&mut self) -> std::result::Result<(), NotStarted> {
        self.nodes.iter_mut().filter(|node| node.process.is_none()).try_for_each(Redis::restart)
    }

    /// Waits until every running node sees all slots served and every running replica is
    /// synchronised. Right after a kill the others haven't noticed yet and still report success.
    pub fn wait_until_ok(&self) -> Result<()> {
        engine::wait_until("the cluster is whole", || {
            self.living().try_fold(true, |so_far, node| Ok(so_far && is_ok(node)?))
        })
    }

    fn join(&self) -> Result<()> {
        let mut create = self.nodes[0].client();
        create.args(["--cluster", "create"]).args(self.addresses());
        create.args(["--cluster-replicas", "1", "--cluster-yes"]);
        run(&mut create).map(drop)
    }

    fn living(&self) -> impl Iterator<Item = &Redis> {
        self.nodes.iter().filter(|node| node.process.is_some())
    }

    fn addresses(&self) -> Vec<String> {
        self.nodes.iter().map(Redis::address).collect()
    }
}

fn is_ok(node: &Redis) -> Result<bool> {
    let is_whole = node.cli(&["cluster", "info"])?.contains("cluster_state:ok");
    let replication = node.cli(&["info", "replication"])?;
    let is_fed = ["role:master", "master_link_status:up"].iter().any(|it| replication.contains(it));
    Ok(is_whole && is_fed)
}

/// Reads `cluster nodes`: a line each, `id address@bus flags … link-state slots`.
fn masters_in(nodes: &str) -> Vec<String> {
    let mut masters: Vec<(u32, &str)> = nodes.lines().filter_map(master_in).collect();
    masters.sort_unstable();
    masters.into_iter().map(|(_, address)| address.to_owned()).collect()
}

/// The first slot and the address, unless the node is a replica, serves nothing or has failed.
fn master_in(line: &str) -> Option<(u32, &str)> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let is_master = words.get(2)?.split(',').all(|flag| matches!(flag, "myself" | "master"));
    let first_slot = words.get(8)?.split('-').next()?.parse().ok()?;
    let address = words.get(1)?.split('@').next()?;
    is_master.then_some((first_slot, address))
}

#[test]
fn masters_are_read_in_the_order_of_their_slots() {
    let nodes = "\
a 127.0.0.1:11@21 myself,master - 0 0 2 connected 5461-10922
b 127.0.0.1:12@22 master - 0 0 1 connected 0-5460
c 127.0.0.1:13@23 slave b 0 0 1 connected
d 127.0.0.1:14@24 master,fail - 0 0 3 disconnected 10923-16383
e 127.0.0.1:15@25 master - 0 0 4 connected
";
    assert_eq!(masters_in(nodes), ["127.0.0.1:12", "127.0.0.1:11"]);
}

#[cfg(test)]
#[path = "cluster_tests.rs"]
mod tests;
