//! The contracts of the live engines, kept on Redis: on one server and on a cluster.
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

use adapters::redis::{Holds, Queue, Revocations, SeatVersions, Strains};
use app::ports;
use app::ports::seat_versions::SeatVersions as _;
use engine::{Engine, START};
use std::time::Duration;

#[tokio::test]
async fn revocations_keep_the_contract_on_one_server() {
    let engine = Engine::single().await;
    let revocations = Revocations::new(engine.connection());
    ports::revocations::contract::check(&revocations, 1, START).await;
}

#[tokio::test]
async fn revocations_keep_the_contract_on_a_cluster() {
    let engine = Engine::cluster().await;
    let revocations = Revocations::new(engine.connection());
    ports::revocations::contract::check(&revocations, 1, START).await;
}

#[tokio::test]
async fn strains_keep_the_contract_on_one_server() {
    let engine = Engine::single().await;
    ports::strains::contract::check(&Strains::new(engine.connection()), 1, START).await;
}

#[tokio::test]
async fn strains_keep_the_contract_on_a_cluster() {
    let engine = Engine::cluster().await;
    ports::strains::contract::check(&Strains::new(engine.connection()), 1, START).await;
}

#[tokio::test]
async fn holds_keep_the_contract_on_one_server() {
    let engine = Engine::single().await;
    let holds = Holds::new(engine.connection());
    ports::holds::contract::check(&holds, 1, START).await;
}

#[tokio::test]
async fn holds_keep_the_contract_on_a_cluster() {
    let engine = Engine::cluster().await;
    let holds = Holds::new(engine.connection());
    ports::holds::contract::check(&holds, 1, START).await;
}

#[tokio::test]
async fn the_queue_keeps_the_contract_on_one_server() {
    let engine = Engine::single().await;
    // Copies that are never old: what they answer is exact.
    let queue = Queue::fresh_for(engine.connection(), engine.blocks(), Duration::ZERO);
    ports::queue::contract::check(&queue, 1, START).await;
}

#[tokio::test]
async fn the_queue_keeps_the_contract_on_a_cluster() {
    let engine = Engine::cluster().await;
    // Copies that are never old: what they answer is exact.
    let queue = Queue::fresh_for(engine.connection(), engine.blocks(), Duration::ZERO);
    ports::queue::contract::check(&queue, 1, START).await;
}

#[tokio::test]
async fn seat_versions_keep_the_contract_on_one_server_even_when_it_forgets() {
    let engine = Engine::single().await;
    let versions = SeatVersions::new(engine.connection());
    ports::seat_versions::contract::check(&versions, 1).await;
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
    ports::seat_versions::contract::check(&versions, 1).await;
}
