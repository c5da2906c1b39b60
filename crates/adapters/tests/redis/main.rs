//! The contracts of the live engines, kept on Redis: on one server and on a cluster.
#![cfg(test)]

mod draw;
mod engine;
mod loss;
mod nodes;
mod polls;
mod same;
mod trouble;

use adapters::redis::{Holds, Limits, Queue, Revocations};
use app::ports;
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
async fn limits_keep_the_contract_on_one_server() {
    let engine = Engine::single().await;
    let limits = Limits::new(engine.connection());
    ports::limits::contract::check(&limits, 1, START).await;
}

#[tokio::test]
async fn limits_keep_the_contract_on_a_cluster() {
    let engine = Engine::cluster().await;
    let limits = Limits::new(engine.connection());
    ports::limits::contract::check(&limits, 1, START).await;
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
    let queue = Queue::fresh_for(engine.connection(), Duration::ZERO);
    ports::queue::contract::check(&queue, 1, START).await;
}

#[tokio::test]
async fn the_queue_keeps_the_contract_on_a_cluster() {
    let engine = Engine::cluster().await;
    // Copies that are never old: what they answer is exact.
    let queue = Queue::fresh_for(engine.connection(), Duration::ZERO);
    ports::queue::contract::check(&queue, 1, START).await;
}
