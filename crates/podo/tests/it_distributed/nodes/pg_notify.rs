//! A node that only sells wakes the relay of a node that only works.

use crate::faults::engines::leads;
use crate::support::client::Api;
use crate::support::fan::Fan;
use crate::support::world::{Plan, Show, World, until};
use crate::system::{Live, System};
use podo_testbed::Podo;

/// No test waits for the relay's next poll.
const SELDOM: (&str, &str) = ("PODO_RELAY_EVERY_MS", "600000");

const PENDING: &str = "select count(*) from common.outbox where status = 'PENDING'";

const LISTENER: &str = "select pid from pg_stat_activity where application_name = 'podo listener'";

async fn worker(system: &System, notify: &str) -> Podo {
    let (name, value) = SELDOM;
    let settings = [(name, value.to_owned()), ("PODO_RELAY_NOTIFY", notify.to_owned())];
    let node = system.node_with("worker", &settings);
    until("it leads the relay", async || leads(&node).await.then_some(())).await;
    until("nothing waits", async || (system.ask(PENDING) == "0").then_some(())).await;
    node
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_of_one_node_wakes_the_relay_of_another() {
    let system = System::start(Live::single());
    let made = async |world: &World, _: &Show| world.fans(3).await;
    let (show, fans) = system.prepare(Plan::default(), made).await;
    let shop = system.node("api,admitter");
    let inside = async |index: usize| {
        let api = Api::at(shop.url()).with_token(fans[index].api.token());
        let mut fan = Fan { id: fans[index].id, api };
        fan.go_inside(&show).await;
        fan
    };
    let all_published = async || (system.ask(PENDING) == "0").then_some(());

    let mut node = worker(&system, "on").await;
    let first =
        until("it listens", async || Some(system.ask(LISTENER)).filter(|it| !it.is_empty()));
    let first = first.await;
    inside(0).await.buy(&show, 0).await;
    until("the relay was woken", all_published).await;

    // The connection is lost; it is reopened, and missed messages are found.
    system.ask(&format!("select pg_terminate_backend({first})"));
    let fan = inside(1).await;
    fan.buy(&show, 1).await;
    until("it listens again", async || {
        Some(system.ask(LISTENER)).filter(|pid| !pid.is_empty() && *pid != first)
    })
    .await;
    until("the relay looked", all_published).await;

    // The control: a relay that isn't notified keeps sleeping.
    node.terminate().unwrap();
    let mut deaf = worker(&system, "off").await;
    inside(2).await.buy(&show, 2).await;
    for _ in 0..20 {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        assert_ne!(system.ask(PENDING), "0", "no notification woke it");
    }
    deaf.terminate().unwrap();
    worker(&system, "on").await;
    system.verify();
}
