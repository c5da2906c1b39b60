//! `podo admin reconcile-seats` on an emptied Redis.

use crate::support::world::Plan;
use crate::system::{Live, System};

#[tokio::test(flavor = "multi_thread")]
async fn after_flushall_the_operator_fills_the_filter_again() {
    let mut system = System::start(Live::single());
    let (show, ()) = system
        .prepare(Plan::default(), async |world, show| {
            world.fan_inside(show).await.buy(show, 0).await;
            world.fan_inside(show).await.hold(show, &[1, 2]).await;
        })
        .await;
    let agreed = system.podo(&["admin", "reconcile-seats", "--wait", "1"]);
    assert!(agreed.0 && agreed.1.contains("agree"), "{}", agreed.1);

    system.live.server().cli(&["flushall"]).unwrap();
    let schedule = show.schedule.to_string();
    let ask = ["admin", "reconcile-seats", "--wait", "1", "--schedule", &schedule, "--dry-run"];
    let (is_clean, text) = system.podo(&ask);
    assert!(!is_clean && text.contains("3 differences remain"), "{text}");
    let (is_clean, text) = system.podo(&ask[..6]);
    assert!(is_clean && text.contains("agree"), "{text}");
    let row = text.lines().find(|line| line.starts_with(&schedule)).unwrap();
    let numbers: Vec<&str> = row.split_whitespace().skip(1).collect();
    assert_eq!(numbers, ["0", "3", "3", "0", "0", "3"], "{text}");

    let key = format!("podo:{{{schedule}}}:holds");
    assert_eq!(system.live.server().cli(&["hlen", &key]).unwrap(), "3");
    let audited = "select count(*) from common.audit_log where action = 'seats.reconcile'";
    assert_eq!(system.ask(audited), "1");
    system.verify();
}
