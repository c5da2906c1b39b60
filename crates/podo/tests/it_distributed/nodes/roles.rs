//! One purchase over nodes with separate roles, behind a load balancer that routes by path.

use crate::support::client::Api;
use crate::support::fan::Fan;
use crate::support::world::Plan;
use crate::system::{Live, System};
use podo_testbed::network::http;
use podo_testbed::network::nginx::Group;
use podo_testbed::{Nginx, Podo};

fn group<'g>(name: &'g str, node: &Podo) -> Group<'g> {
    Group { name, servers: vec![http::address(node.url()).unwrap()] }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purchase_goes_over_nodes_that_each_do_a_part() {
    let system = System::start(Live::single());
    let plan = Plan { max_active: 1, ..Plan::default() };
    let (show, fans) = system.prepare(plan, async |world, _| world.fans(2).await).await;
    let queue = system.node("queue");
    let booking = system.node("booking");
    let rest = system.node("payment,catalog,admin");
    let _backstage = system.node("admitter,worker");
    let groups = [
        group("queue", &queue),
        group("booking", &booking),
        group("payment", &rest),
        group("catalog", &rest),
        group("admin", &rest),
    ];
    let balancer = Nginx::start(&groups).unwrap();
    let at =
        |url: &str, fan: &Fan| Fan { id: fan.id, api: Api::at(url).with_token(fan.api.token()) };

    let [mut first, mut second] = [0, 1].map(|index| at(&balancer.url(), &fans[index]));
    first.go_inside(&show).await;
    assert_eq!(second.enter(&show).await.expect(200)["state"], "WAITING");
    first.buy(&show, 0).await;
    // Paying ended the first fan's entry on one node, and another node admitted the second.
    second.wait_inside(&show).await;
    assert_eq!(first.balance().await, 0);
    let tickets = first.api.get("/api/tickets").await.expect(200);
    assert_eq!(tickets["items"].as_array().unwrap().len(), 1, "{tickets}");

    at(booking.url(), &fans[0]).enter(&show).await.refused(404, "NOT_SERVED_HERE");
    at(queue.url(), &fans[0]).select(&show, &[1]).await.refused(404, "NOT_SERVED_HERE");
    for node in [&queue, &booking, &rest] {
        for path in ["/readyz", "/metrics", "/api/openapi.json"] {
            assert_eq!(Api::at(node.url()).get(path).await.status, 200, "{path}");
        }
    }
    system.verify();
}

#[test]
fn a_role_that_does_not_exist_or_would_be_alone_is_refused() {
    let run = |arguments: &[&str]| {
        let mut podo = std::process::Command::new(env!("CARGO_BIN_EXE_podo"));
        let output = podo.env_clear().args(arguments).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let unknown = run(&["serve", "--roles", "api,admiter"]);
    assert!(unknown.contains("unknown role `admiter`"), "{unknown}");
    let alone = run(&["serve", "--roles", "api"]);
    assert!(alone.contains("no fan would be admitted"), "{alone}");
}
