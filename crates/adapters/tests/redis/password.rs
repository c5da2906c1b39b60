//! A cluster that asks for a password, which stands once in front of all addresses.

use crate::engine::START;
use adapters::redis::{Address, Connection, Strains};
use app::ports;
use testbed::RedisCluster;

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
    assert!(open(url("")).await.is_err(), "it asks for a password");
    assert!(open(url(":wrong@")).await.is_err(), "and for the right one");
    let connection = open(url(&format!(":{PASSWORD}@"))).await.unwrap();
    ports::strains::contract::check(&Strains::new(connection), 1, START).await;
    let everywhere = nodes.replace(',', &format!(",:{PASSWORD}@"));
    open(format!("redis-cluster://:{PASSWORD}@{everywhere}")).await.unwrap();
}
