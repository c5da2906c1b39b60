//! The contracts of the live engines on Redis: on one server and on a cluster.
#![cfg(test)]

mod draw;
mod engine;
mod limits;
mod loss;
mod nodes;
mod password;
mod polls;
mod same;
mod tls;
mod trouble;

use engine::{Engine, START};
use podo_adapters::live::redis::{NodeLoad, Queue, Revocations, SeatFilter, SeatVersions};
use podo_app::booking::port::seat_versions::SeatVersions as _;
use std::time::Duration;

#[tokio::test]
async fn revocations_keep_the_contract_on_one_server() {
    let engine = Engine::single().await;
    let revocations = Revocations::new(engine.connection());
    podo_app::identity::port::revocations::contract::check(&revocations, 1, START).await;
}

#[tokio::test]
async fn revocations_keep_the_contract_on_a_cluster() {
    let engine = Engine::cluster().await;
    let revocations = Revocations::new(engine.connection());
    podo_app::identity::port::revocations::contract::check(&revocations, 1, START).await;
}

#[tokio::test]
async fn node_load_keeps_the_contract_on_one_server() {
    let engine = Engine::single().await;
    podo_app::operations::port::node_load::contract::check(
        &NodeLoad::new(engine.connection()),
        1,
        START,
    )
    .await;
}

#[tokio::test]
async fn node_load_keeps_the_contract_on_a_cluster() {
    let engine = Engine::cluster().await;
    podo_app::operations::port::node_load::contract::check(
        &NodeLoad::new(engine.connection()),
        1,
        START,
    )
    .await;
}

#[tokio::test]
async fn holds_keep_the_contract_on_one_server() {
    let engine = Engine::single().await;
    let holds = SeatFilter::new(engine.connection());
    podo_app::booking::port::seat_filter::contract::check(&holds, 1, START).await;
}

#[tokio::test]
async fn holds_keep_the_contract_on_a_cluster() {
    let engine = Engine::cluster().await;
    let holds = SeatFilter::new(engine.connection());
    podo_app::booking::port::seat_filter::contract::check(&holds, 1, START).await;
}

#[tokio::test]
async fn the_queue_keeps_the_contract_on_one_server() {
    let engine = Engine::single().await;
    // Replicas that are never stale, so their answers are exact.
    let queue = Queue::fresh_for(engine.connection(), engine.blocks(), Duration::ZERO);
    podo_app::waiting_room::port::contract::check(&queue, 1, START).await;
}

#[tokio::test]
async fn the_queue_keeps_the_contract_on_a_cluster() {
    let engine = Engine::cluster().await;
    // Replicas that are never stale, so their answers are exact.
    let queue = Queue::fresh_for(engine.connection(), engine.blocks(), Duration::ZERO);
    podo_app::waiting_room::port::contract::check(&queue, 1, START).await;
}

#[tokio::test]
async fn seat_versions_keep_the_contract_on_one_server_even_when_it_forgets() {
    let engine = Engine::single().await;
    let versions = SeatVersions::new(engine.connection());
    podo_app::booking::port::seat_versions::contract::check(&versions, 1).await;
    let schedule = nodes::schedule();
    versions.bump(schedule, &[1]).await.unwrap();
    let seen = versions.version(schedule).await.unwrap();
    engine.ask(&["flushall"]);
    assert_ne!(versions.version(schedule).await.unwrap(), seen);
    versions.bump(schedule, &[1]).await.unwrap();
    assert_ne!(versions.version(schedule).await.unwrap(), seen);
}

#[tokio::test]
async fn seat_versions_keep_the_contract_on_a_cluster() {
    let engine = Engine::cluster().await;
    let versions = SeatVersions::new(engine.connection());
    podo_app::booking::port::seat_versions::contract::check(&versions, 1).await;
}
