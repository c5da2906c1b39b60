//! Machines with wrong clocks: all nodes use the store's clock.

use crate::support::client::Api;
use crate::support::fan::Fan;
use crate::support::world::{PRICE, Plan, Show, World, until};
use crate::system::{Live, System};
use podo_testbed::{Podo, SkewedClock};
use std::time::Duration;

const ROLES: &str = "api,admitter,worker";

/// Longer than a hold lasts, and than this test's lobby waits.
const SKEW_S: i64 = 400;

fn fan_at(podo: &Podo, fan: &Fan) -> Fan {
    Fan { id: fan.id, api: Api::at(podo.url()).with_token(fan.api.token()) }
}

/// The node is ready, and reports how far its machine's clock is ahead.
async fn check_ready(podo: &Podo, ahead_s: i64) {
    let answer = Api::at(podo.url()).get("/readyz?verbose").await;
    let shown = answer.text.lines().find_map(|line| line.strip_prefix("[+] clock: "));
    let shown: f64 = shown.unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!((shown - ahead_s as f64).abs() < 1.0, "{}", answer.text);
    assert_eq!(answer.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_whose_clock_is_wrong_expires_and_opens_nothing_early() {
    let system = System::start(Live::single());
    let lobby = Plan { opens_in: Duration::from_secs(180), ..Plan::default() };
    let work = async |world: &World, _: &Show| (world.fans(2).await, world.show(lobby).await);
    let (show, (fans, later)) = system.prepare(Plan::default(), work).await;
    let right = system.node(ROLES);
    let clock = SkewedClock::new().unwrap();
    let ahead = clock.attach(system.launch(ROLES, &[]), SKEW_S).start().unwrap();
    let behind = clock.attach(system.launch(ROLES, &[]), -SKEW_S).start().unwrap();

    let mut fan = fan_at(&right, &fans[0]);
    fan.go_inside(&show).await;
    let reservation = fan.hold(&show, &[0]).await;
    fan.charge(PRICE).await;
    let waiting = fan_at(&right, &fans[1]);
    assert_eq!(waiting.enter(&later).await.expect(200)["state"], "LOBBY");
    // The jobs of all three process the hold and the lobby.
    for node in [&right, &ahead, &behind] {
        wait_for_rounds(node, "expire").await;
        wait_for_rounds(node, "admit").await;
    }

    assert_eq!(fan.reservation(&reservation).await["status"], "HELD");
    assert_eq!(waiting.status(&later).await.expect(200)["state"], "LOBBY");
    // A hold made on a node that is ahead or behind lasts as long as any other.
    for (node, seat) in [(&ahead, 1), (&behind, 2)] {
        let mut there = fan_at(node, &fans[1]);
        there.go_inside(&show).await;
        let held = there.select(&show, &[seat]).await.expect(201);
        let left = seconds_left(&system, held["holdExpiresAt"].as_str().unwrap());
        assert!((280..=300).contains(&left), "the hold lives for {left} s");
    }
    let payment = fan.ready(&reservation, "WALLET").await;
    fan.confirm(&payment).await.expect(200);

    check_ready(&right, 0).await;
    check_ready(&ahead, SKEW_S).await;
    check_ready(&behind, -SKEW_S).await;
    system.verify();
}

/// Waits until a job has run three more times on this node.
async fn wait_for_rounds(node: &Podo, job: &str) {
    let api = Api::at(node.url());
    let n_rounds = async || {
        let name = format!("podo_job_rounds_total{{job=\"{job}\"}} ");
        let metrics = api.get("/metrics").await.text;
        let value = metrics.lines().find_map(|line| line.strip_prefix(&name).map(str::to_owned));
        value.map_or(0, |value| value.parse::<u64>().unwrap())
    };
    let before = n_rounds().await;
    until("the job has run", async || (n_rounds().await >= before + 3).then_some(())).await;
}

fn seconds_left(system: &System, until: &str) -> i64 {
    let sql =
        format!("select extract(epoch from '{until}'::timestamptz - clock_timestamp())::bigint");
    system.ask(&sql).parse().unwrap()
}
