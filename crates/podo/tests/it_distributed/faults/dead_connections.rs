//! Connections to the engines go silent without being closed, as when a host dies or a NAT drops
//! its state. Requests get a response in time, nodes recover by themselves, and nothing is lost.

use crate::nodes::sale::{Sale, prepare};
use crate::support::client::{Answer, Api, try_send};
use crate::support::fan::Fan;
use crate::support::world::{Plan, Show, World, until, until_within};
use crate::system::System;
use futures::future::join_all;
use podo_testbed::{Fault, Kafka, Podo, Proxy};
use reqwest::Method;
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::task::block_in_place;

const N_FANS: usize = 12;
const N_SEATS: u32 = N_FANS as u32;

/// PostgreSQL's statement timeout; the node waits two seconds longer for a response.
const STATEMENT_MS: u64 = 2_000;
const DEADLINE: Duration = Duration::from_millis(STATEMENT_MS + 2_000);

/// How much longer than the deadline a request may take, and a node to become ready again.
const EXTRA: Duration = Duration::from_secs(5);
const READY_WITHIN: Duration = Duration::from_secs(15);

/// When the client has abandoned its requests to the broker, and the relay has retried.
const KAFKA_WITHIN: Duration = Duration::from_secs(20);

const PENDING: &str = "select count(*) from common.outbox where status <> 'PUBLISHED'";

/// A call without a response after this long will never get one.
const GIVEN_UP: Duration = Duration::from_secs(40);

/// For conditions that other tests check.
const PATIENCE: Duration = Duration::from_secs(90);

/// Admitted fans on a node, each with a seat to hold.
struct Crowd {
    show: Show,
    fans: Vec<Fan>,
}

impl Crowd {
    async fn inside(node: &Podo, (show, fans): (Show, Vec<Fan>)) -> Crowd {
        let enter = fans.iter().map(|fan| async {
            let api = Api::at(node.url()).with_token(fan.api.token());
            let mut fan = Fan { id: fan.id, api };
            fan.go_inside(&show).await;
            fan
        });
        let fans = join_all(enter).await;
        Crowd { show, fans }
    }

    /// All hold their seats at once, with the same idempotency key each time.
    async fn hold(&self, first: u32) -> Vec<(Answer, Duration)> {
        let holds = (first..).zip(&self.fans).map(|(index, fan)| async move {
            let seat = self.show.seat(index);
            let body = json!({ "scheduleId": self.show.schedule, "seatIds": [seat] });
            let call = fan.api.call(Method::POST, "/api/booking/seats/select").json(&body);
            let call = call.header("Idempotency-Key", first.to_string()).timeout(GIVEN_UP);
            let start = Instant::now();
            let answer = try_send(call).await.expect("every hold is answered");
            (answer, start.elapsed())
        });
        join_all(holds).await
    }

    /// All get success or "try again" within the deadline, and in the end all succeed. Returns how
    /// many had to try again.
    async fn hold_in_time(&self, first: u32) -> usize {
        let (start, mut n_unanswered) = (Instant::now(), 0);
        loop {
            let answers = self.hold(first).await;
            for (answer, took) in &answers {
                assert!(matches!(answer.status, 201 | 503), "{}: {}", answer.status, answer.text);
                assert!(*took < DEADLINE + EXTRA, "{} after {took:?}", answer.status);
            }
            let n_told = answers.iter().filter(|(answer, _)| answer.status == 503).count();
            if n_told == 0 {
                return n_unanswered;
            }
            n_unanswered += n_told;
            assert!(start.elapsed() < GIVEN_UP, "they are refused for ever");
        }
    }
}

async fn is_ready(node: &Podo) -> bool {
    let call = Api::at(node.url()).call(Method::GET, "/readyz").timeout(READY_WITHIN);
    try_send(call).await.is_ok_and(|answer| answer.status == 200)
}

/// The connection goes silent while all of them wait for the store. Polls the node's readiness
/// throughout; returns when it was last not ready, counted from the silence.
async fn hold_through_silence(crowd: &Crowd, node: &Podo, line: &Proxy) -> Duration {
    // Afterwards there are connections of every kind.
    assert_eq!(crowd.hold_in_time(0).await, 0);
    line.set(Fault::HalfOpen);
    let health = async {
        // Until the holds are in flight.
        tokio::time::sleep(Duration::from_millis(200)).await;
        line.swallow();
        line.set(Fault::None);
        let (start, mut unready_for) = (Instant::now(), Duration::ZERO);
        while start.elapsed() < DEADLINE + EXTRA {
            if !is_ready(node).await {
                unready_for = start.elapsed();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        unready_for
    };
    let (n_unanswered, unready_for) = tokio::join!(crowd.hold_in_time(N_SEATS), health);
    assert_ne!(n_unanswered, 0, "the silence fell between the holds");
    unready_for
}

async fn fans(system: &System) -> (Show, Vec<Fan>) {
    let made = async |world: &World, _: &Show| world.fans(N_FANS).await;
    let plan = Plan { n_seats: 2 * N_SEATS + 1, ..Plan::default() };
    system.prepare(plan, made).await
}

/// Everything works again: a purchase, its message, its notification.
async fn goes_on(system: &System, crowd: &Crowd) {
    let n_notifications =
        "select count(*) from common.mailbox where subject = '예매가 완료되었어요'";
    crowd.fans[0].buy(&crowd.show, 2 * N_SEATS).await;
    until("all messages are published", async || (system.ask(PENDING) == "0").then_some(())).await;
    until_within(PATIENCE, "a notification is written", async || {
        (system.ask(n_notifications) == "1").then_some(())
    })
    .await;
    system.verify();
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_to_postgres_that_fall_silent_are_thrown_away() {
    let system = System::with_lines();
    let prepared = fans(&system).await;
    let limit = [("PODO_STORE_STATEMENT_TIMEOUT_MS", STATEMENT_MS.to_string())];
    let node = system.node_with("api,admitter,worker", &limit);
    let crowd = Crowd::inside(&node, prepared).await;
    let unready_for = hold_through_silence(&crowd, &node, &system.lines().store).await;
    assert!(unready_for < READY_WITHIN, "not ready after {unready_for:?}");
    goes_on(&system, &crowd).await;
}

/// A hold needs the filter, so holds must be retried until Redis is reconnected.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_to_redis_that_falls_silent_is_opened_anew() {
    let system = System::with_lines();
    let prepared = fans(&system).await;
    let node = system.node("api,admitter,worker");
    let crowd = Crowd::inside(&node, prepared).await;
    assert_eq!(crowd.hold_in_time(0).await, 0);
    system.lines().live.swallow();
    let start = Instant::now();
    assert_ne!(crowd.hold_in_time(N_SEATS).await, 0, "no hold failed");
    assert!(start.elapsed() < READY_WITHIN, "healed after {:?}", start.elapsed());
    assert!(is_ready(&node).await);
    goes_on(&system, &crowd).await;
}

/// Sales continue; messages from before and after the silence are published and processed.
#[tokio::test(flavor = "multi_thread")]
async fn connections_to_kafka_that_fall_silent_are_opened_anew() {
    let system = block_in_place(System::with_kafka_line);
    let prepared = fans(&system).await;
    let node = system.node("api,admitter,worker");
    let crowd = Crowd::inside(&node, prepared).await;
    let line = system.kafka.as_ref().and_then(Kafka::line).unwrap();
    let all_published = async || (system.ask(PENDING) == "0").then_some(());
    assert_eq!(crowd.hold_in_time(0).await, 0);
    until("all messages are published", all_published).await;
    line.swallow();
    let start = Instant::now();
    assert_eq!(crowd.hold_in_time(N_SEATS).await, 0);
    until_within(PATIENCE, "the relay publishes again", all_published).await;
    assert!(start.elapsed() < KAFKA_WITHIN, "published after {:?}", start.elapsed());
    goes_on(&system, &crowd).await;
    assert!(start.elapsed() < 2 * KAFKA_WITHIN, "workers came back after {:?}", start.elapsed());
    assert_eq!(system.ask("select count(*) from common.dead_letters"), "0");
}

/// Whatever a purchase was doing when its connection went silent, even a commit: a retry with the
/// same keys finds the outcome.
#[tokio::test(flavor = "multi_thread")]
async fn a_sale_goes_on_through_connections_that_fall_silent() {
    let system = System::with_lines();
    let limit = [("PODO_STORE_STATEMENT_TIMEOUT_MS", STATEMENT_MS.to_string())];
    let (show, buyers) = prepare(&system).await;
    let nodes = [(); 2].map(|()| system.node_with("api,admitter,worker", &limit));
    let sale = Sale::new(show, &[nodes[0].url(), nodes[1].url()]);
    sale.run(buyers, async || {
        for _ in 0..2 {
            system.lines().store.swallow();
            tokio::time::sleep(DEADLINE + Duration::from_secs(1)).await;
        }
    })
    .await;
    sale.check(&system).await;
}
