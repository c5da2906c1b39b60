//! Tests of the Redis cluster.

use crate::engine::{tests::is_running, wait_until};
use crate::redis::cluster::*;

/// Sends one command to the node that owns the key.
fn ask(cluster: &RedisCluster, command: &[&str]) -> Result<String> {
    let node = cluster.living().next().unwrap();
    let mut cli = crate::redis::client();
    cli.args(["-c", "-e", "-p", &node.port().to_string()]).args(command);
    Ok(run(&mut cli)?.trim_end().to_owned())
}

#[test]
fn a_cluster_serves_every_slot_and_replaces_a_killed_master() {
    let mut cluster = RedisCluster::start().unwrap();
    let addresses = cluster.url().strip_prefix("redis-cluster://").unwrap().to_owned();
    assert_eq!(addresses.split(',').count(), N_NODES);
    assert_eq!(cluster.masters().unwrap().len(), 3);
    for seat in 0..30 {
        assert_eq!(ask(&cluster, &["set", &format!("seat:{seat}"), "held"]).unwrap(), "OK");
    }

    let killed = cluster.kill_master(1).unwrap();
    let is_replaced = |cluster: &RedisCluster| {
        let masters = cluster.masters()?;
        Ok(masters.len() == 3 && !masters.contains(&killed))
    };
    wait_until("a replica became master", || is_replaced(&cluster)).unwrap();
    cluster.wait_until_ok().unwrap();
    assert!(addresses.contains(&killed));

    cluster.restart_killed().unwrap();
    assert_eq!(cluster.living().count(), N_NODES);
    cluster.wait_until_ok().unwrap();
    assert_eq!(ask(&cluster, &["get", "seat:29"]).unwrap(), "held");
}

#[test]
fn a_dropped_cluster_leaves_no_process() {
    let cluster = RedisCluster::start().unwrap();
    let pids: Vec<u32> = cluster.nodes().iter().filter_map(Redis::pid).collect();
    assert_eq!(pids.len(), N_NODES);
    assert!(pids.iter().all(|pid| is_running(*pid)));
    drop(cluster);
    assert!(!pids.into_iter().any(is_running));
}
