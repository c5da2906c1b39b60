//! One purchase over nodes that each do a part.

use crate::client::Api;
use crate::fan::Fan;
use crate::system::{Live, System};
use crate::world::{PRICE, Plan};

#[tokio::test(flavor = "multi_thread")]
async fn a_purchase_goes_over_nodes_that_each_do_a_part() {
    let system = System::start(Live::single());
    let plan = Plan { max_active: 1, ..Plan::default() };
    let (show, mut fans) = system.prepare(plan, async |world, _| world.fans(2).await).await;
    let door = system.node("queue");
    let shop = system.node("booking,payment");
    let _backstage = system.node("admitter,worker");
    let at = |node: &testbed::Podo, fan: &Fan| {
        let api = Api::at(node.url()).with_token(fan.api.token());
        Fan { id: fan.id, api }
    };

    let (first, second) = (fans.remove(0), fans.remove(0));
    let mut first_outside = at(&door, &first);
    first_outside.go_inside(&show).await;
    let mut second_outside = at(&door, &second);
    assert_eq!(second_outside.enter(&show).await.expect(200)["state"], "WAITING");

    let inside = at(&shop, &first);
    let inside = Fan { api: inside.api.with_entry(first_outside.api.entry()), ..inside };
    let bought = inside.buy(&show, 0).await;
    assert!(!bought.booking_number.is_empty());
    // Paying ended the first fan's entry, and the third node gave the place to the second.
    second_outside.wait_inside(&show).await;
    assert_eq!(inside.balance().await, 0, "{PRICE} were charged and spent");

    inside.enter(&show).await.refused(404, "NOT_SERVED_HERE");
    first_outside.select(&show, &[1]).await.refused(404, "NOT_SERVED_HERE");
    for node in [&door, &shop] {
        assert_eq!(Api::at(node.url()).get("/metrics").await.status, 200);
        assert_eq!(Api::at(node.url()).get("/api/openapi.json").await.status, 200);
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
    assert!(alone.contains("nobody would be let in"), "{alone}");
}
