//! Connections between nodes and engines degrade in the middle of a sale: slow, narrow, silent,
//! cut. Every acknowledged purchase is kept, every seat is sold once, and the only error is 503.

use crate::faults::bus::all_messages_acted_once;
use crate::nodes::sale::{N_SEATS, Sale, prepare};
use crate::system::System;
use podo_testbed::{Fault, Kafka, Podo, Proxy};
use std::time::Duration;
use tokio::task::block_in_place;

const A_WHILE: Duration = Duration::from_millis(700);

/// Longer than a call waits for a response.
const SILENCE: Duration = Duration::from_secs(3);

/// Applies every fault to a connection in turn, and then removes it.
async fn go_bad(line: &Proxy) {
    for (fault, length) in [
        (Fault::Delay(Duration::from_millis(50)), A_WHILE),
        (Fault::Throttle(200_000), A_WHILE),
        (Fault::HalfOpen, SILENCE),
        (Fault::Cut, A_WHILE),
    ] {
        line.set(fault);
        tokio::time::sleep(length).await;
    }
    line.set(Fault::None);
}

async fn sell_over(system: &System, hurt: impl AsyncFnOnce(&System)) -> (Sale, [Podo; 2]) {
    let (show, buyers) = prepare(system).await;
    let nodes = [system.node("api,admitter,worker"), system.node("api,admitter,worker")];
    let sale = Sale::new(show, &[nodes[0].url(), nodes[1].url()]);
    sale.run(buyers, async || hurt(system).await).await;
    sale.check(system).await;
    (sale, nodes)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_line_to_redis_goes_bad_in_every_way() {
    let system = System::with_lines();
    sell_over(&system, async |system: &System| go_bad(&system.lines().live).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_line_to_postgres_goes_bad_in_every_way() {
    let system = System::with_lines();
    sell_over(&system, async |system: &System| go_bad(&system.lines().store).await).await;
}

/// Messages wait for the broker, and each has one effect afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn the_line_to_kafka_goes_bad_in_every_way() {
    let system = block_in_place(System::with_kafka_line);
    let line = system.kafka.as_ref().and_then(Kafka::line).unwrap();
    let (sale, _nodes) = sell_over(&system, async |_: &System| go_bad(line).await).await;
    all_messages_acted_once(&system, &sale, N_SEATS).await;
}
