//! Three real nodes on one Redis: an address and a user have one budget across all of them.

use crate::support::client::{Answer, Api, send};
use crate::support::world::{Plan, Show, World, until};
use crate::system::{Live, System};
use podo_testbed::Podo;
use reqwest::Method;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Per second and address. A share of it is 10, a report is due at 5.
const BURST: u32 = 40;
/// Per minute, user and route. A share of it is 5, a report is due at 2.
const USER_BURST: u32 = 20;
const N_NODES: u32 = 3;

struct Node {
    _process: Podo,
    api: Api,
}

impl Node {
    fn start(system: &System) -> Node {
        let settings = [
            ("PODO_LIMITS", "on".to_owned()),
            ("PODO_REQUESTS_PER_SECOND_PER_IP", BURST.to_string()),
            ("PODO_REQUESTS_PER_MINUTE_PER_USER", USER_BURST.to_string()),
            ("PODO_TRUSTED_PROXIES", "127.0.0.0/8".to_owned()),
        ];
        let process = system.node_with("api", &settings);
        Node { api: Api::at(process.url()), _process: process }
    }

    /// Every client has its own address. The path needs no engine: the limit alone decides.
    async fn ask(&self, client: &str) -> Answer {
        let call = self.api.call(Method::GET, "/livez");
        send(call.header("X-Forwarded-For", client)).await
    }

    async fn metric(&self, name: &str) -> u64 {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let client = Ipv4Addr::from_bits((10 << 24) + LAST.fetch_add(1, Ordering::Relaxed));
        let call = self.api.call(Method::GET, "/metrics");
        let metrics = send(call.header("X-Forwarded-For", client.to_string())).await.text;
        let value = metrics.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        value.unwrap_or_else(|| panic!("{name} is not in {metrics}"))
    }
}

async fn three_nodes(system: &System) -> [Node; 3] {
    let nodes = [(); 3].map(|()| Node::start(system));
    for node in &nodes {
        until("every node knows of the others", async || {
            (node.metric("podo_rate_limit_nodes").await == u64::from(N_NODES)).then_some(())
        })
        .await;
    }
    nodes
}

/// The outcome of many requests, one after the other.
struct Counted {
    n_passed: u32,
    n_sent: u32,
    took: Duration,
}

impl Counted {
    /// What one bucket yields in this time.
    fn budget(&self, burst: u32, period: Duration) -> f64 {
        f64::from(burst) * (1.0 + self.took.as_secs_f64() / period.as_secs_f64())
    }

    /// Most requests that all nodes together may pass: the budget, a share for each node, and for
    /// each period and node what is too little to report.
    fn most(&self, burst: u32, period: Duration) -> f64 {
        let unreported = f64::from((burst.div_ceil(4) / 2 - 1) * N_NODES);
        let n_periods = (self.took.as_secs_f64() / period.as_secs_f64()).ceil() + 1.0;
        let shares = f64::from(burst.div_ceil(4) * N_NODES);
        self.budget(burst, period) + shares + unreported * n_periods
    }
}

/// Sends requests as fast as they are answered.
async fn count(n_sent: u32, mut send: impl AsyncFnMut(u32) -> Answer) -> Counted {
    let (start, mut n_passed) = (Instant::now(), 0);
    for number in 0..n_sent {
        let answer = send(number).await;
        match answer.status {
            200 => n_passed += 1,
            429 => drop(answer.refused(429, "TOO_MANY_REQUESTS")),
            status => panic!("{status}: {}", answer.text),
        }
    }
    Counted { n_passed, n_sent, took: start.elapsed() }
}

async fn n_failures(nodes: &[Node; 3]) -> u64 {
    let mut sum = 0;
    for node in nodes {
        sum += node.metric("podo_rate_limit_sync_failures_total").await;
    }
    sum
}

/// Counts until no report has failed in the meantime: on a machine too busy to respond in time,
/// nodes fall back to their own limits, as designed.
async fn count_shared(nodes: &[Node; 3], mut run: impl AsyncFnMut(u32) -> Counted) -> Counted {
    for attempt in 0..5 {
        let before = n_failures(nodes).await;
        let counted = run(attempt).await;
        if n_failures(nodes).await == before {
            return counted;
        }
    }
    panic!("Redis answers too late");
}

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread")]
async fn an_address_has_one_budget_on_three_nodes_and_a_node_alone_gives_all_of_it() {
    let mut system = System::start(Live::single());
    system.prepare(Plan::default(), async |_: &World, _: &Show| ()).await;
    let nodes = three_nodes(&system).await;

    // Quiet clients cost no Redis calls.
    for number in 0..50 {
        nodes[0].ask(&format!("198.51.100.{number}")).await.expect(200);
    }
    assert_eq!(nodes[0].metric("podo_rate_limit_syncs_total").await, 0);

    let in_turns = count_shared(&nodes, async |attempt| {
        let client = format!("203.0.113.{attempt}");
        count(900, async |number| nodes[number as usize % 3].ask(&client).await).await
    })
    .await;
    let (n_passed, most) = (f64::from(in_turns.n_passed), in_turns.most(BURST, SECOND));
    let took = in_turns.took;
    println!("in turns: {n_passed} of {} in {took:?}, most {most:.0}", in_turns.n_sent);
    assert!(n_passed <= most, "{n_passed} of at most {most} in {took:?}");

    let alone = count_shared(&nodes, async |attempt| {
        let client = format!("203.0.113.1{attempt}");
        count(600, async |_| nodes[1].ask(&client).await).await
    })
    .await;
    let budget = alone.budget(BURST, SECOND).min(alone.n_sent.into());
    println!("alone: {} in {:?}, budget {budget:.0}", alone.n_passed, alone.took);
    assert!(f64::from(alone.n_passed) > 0.6 * budget, "{} of {budget}", alone.n_passed);
    assert!(f64::from(alone.n_passed) <= alone.most(BURST, SECOND));

    // Without Redis every node has its own limit, and responds as before.
    tokio::task::block_in_place(|| system.live.server().kill_9().unwrap());
    let without = count(300, async |_| nodes[2].ask("203.0.113.20").await).await;
    let budget = without.budget(BURST, SECOND);
    println!("without Redis: {} in {:?}, budget {budget:.0}", without.n_passed, without.took);
    assert!(f64::from(without.n_passed) <= budget + 1.0, "{} of {budget}", without.n_passed);
    let least = 0.6 * budget.min(without.n_sent.into());
    assert!(f64::from(without.n_passed) > least, "{} of {budget}", without.n_passed);
    assert!(nodes[2].metric("podo_rate_limit_sync_failures_total").await > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_has_one_budget_for_a_route_on_three_nodes() {
    let system = System::start(Live::single());
    let made = async |world: &World, _: &Show| world.fans(5).await;
    let (_, fans) = system.prepare(Plan::default(), made).await;
    let nodes = three_nodes(&system).await;
    let counted = count_shared(&nodes, async |attempt| {
        let token = fans[attempt as usize].api.token();
        // Every call comes from another address, so only the user is limited.
        let call = async |number: u32| {
            let api = nodes[number as usize % 3].api.with_token(token);
            let client = Ipv4Addr::from_bits((203 << 24) + (attempt << 16) + number).to_string();
            send(api.call(Method::GET, "/api/wallet").header("X-Forwarded-For", client)).await
        };
        count(180, call).await
    })
    .await;
    let (n_passed, most) = (f64::from(counted.n_passed), counted.most(USER_BURST, MINUTE));
    println!("{n_passed} of {} in {:?}, most {most:.0}", counted.n_sent, counted.took);
    assert!(n_passed <= most, "{n_passed} of at most {most} in {:?}", counted.took);
    assert!(counted.n_passed >= USER_BURST, "{n_passed}");
}
