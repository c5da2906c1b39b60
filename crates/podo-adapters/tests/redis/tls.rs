//! TLS connections: to a server with a trusted certificate, and to no other.

use crate::engine::{Engine, START};
use podo_adapters::live::redis::{Address, Connection, Queue, Revocations};
use podo_testbed::Redis;
use std::time::Duration;

#[tokio::test]
async fn engines_keep_their_contracts_over_tls() {
    let engine = Engine::single_with_tls().await;
    let queue = Queue::fresh_for(engine.connection(), engine.blocks(), Duration::ZERO);
    podo_app::waiting_room::port::contract::check(&queue, 1, START).await;
}

#[tokio::test]
async fn engines_keep_their_contracts_over_tls_on_a_cluster() {
    let engine = Engine::cluster_with_tls().await;
    let revocations = Revocations::new(engine.connection());
    podo_app::identity::port::revocations::contract::check(&revocations, 1, START).await;
}

#[tokio::test]
async fn a_server_with_an_untrusted_certificate_is_refused() {
    let (server, other) = (Redis::start_with_tls().unwrap(), Redis::start_with_tls().unwrap());
    let open = async |trusted: Option<&str>| {
        let trusted = trusted.map(|pem| pem.as_bytes().to_vec());
        Connection::open(Address { url: server.url(), trusted, prefix: String::new() }).await
    };
    assert!(open(Some(server.certificate())).await.is_ok());
    for trusted in [None, Some(other.certificate())] {
        let refused = open(trusted).await.err();
        assert!(refused.is_some_and(|error| error.contains("certificate")), "{trusted:?}");
    }
}
