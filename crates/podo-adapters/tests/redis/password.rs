//! A cluster with a password, which is given once, before all addresses.

use crate::engine::START;
use podo_adapters::live::redis::{Address, Connection, NodeLoad};
use podo_testbed::RedisCluster;

const PASSWORD: &str = "sour-grapes";

async fn open(url: String) -> Result<Connection, String> {
    Connection::open(Address { url, ..Address::default() }).await
}

#[tokio::test]
async fn a_cluster_with_a_password_keeps_the_contract() {
    let cluster = RedisCluster::start().unwrap();
    for node in cluster.nodes() {
        node.cli(&["config", "set", "masterauth", PASSWORD]).unwrap();
        node.cli(&["config", "set", "requirepass", PASSWORD]).unwrap();
    }
    let nodes = cluster.url().strip_prefix("redis-cluster://").unwrap().to_owned();
    let url = |who: &str| format!("redis-cluster://{who}{nodes}");
    assert!(open(url("")).await.is_err(), "it requires a password");
    assert!(open(url(":wrong@")).await.is_err(), "and the right one");
    let connection = open(url(&format!(":{PASSWORD}@"))).await.unwrap();
    podo_app::operations::port::node_load::contract::check(&NodeLoad::new(connection), 1, START)
        .await;
    let everywhere = nodes.replace(',', &format!(",:{PASSWORD}@"));
    open(format!("redis-cluster://:{PASSWORD}@{everywhere}")).await.unwrap();
}
