//! Redelivered messages over a real broker, and messages that cannot be processed.

use crate::faults::bus::read_all;
use crate::support::client::Api;
use crate::support::fan::Fan;
use crate::support::world::{Plan, Show, until_within};
use crate::system::System;
use podo_adapters::kafka::Bus;
use podo_app::messaging::envelope::decode;
use podo_domain::messaging::messages::{MessageKind, Topic};
use podo_testbed::Podo;
use std::time::Duration;
use tokio::task::block_in_place;

const N_BOUGHT: u32 = 3;

/// A consumer group rebalances when a dead member's session times out.
const PATIENCE: Duration = Duration::from_secs(120);

/// The workers' deduplication marks.
const MARKS: &str = "select count(*) from common.processed_messages
                      where consumer in ('booking', 'notification')
                        and message_id in (select id from common.outbox
                                            where kind = 'ReservationConfirmed')";

const NOTIFICATIONS: &str =
    "select count(*) from common.mailbox where subject = '예매가 완료되었어요'";

const SOLD: &str = "select coalesce(sum(sold), 0) from reservation_service.sales_by_grade";

const DEAD: &str = "select count(*) from common.dead_letters where status = 'OPEN'";

/// How many messages a node's worker has processed, including duplicates.
async fn n_consumed(node: &Podo, worker: &str) -> u32 {
    let metrics = Api::at(node.url()).get("/metrics").await.text;
    let name = format!("podo_messages_consumed_total{{worker=\"{worker}\"}} ");
    let value = metrics.lines().find_map(|line| line.strip_prefix(&name));
    value.map_or(0, |value| value.parse().unwrap())
}

pub(crate) async fn buy_at(node: &Podo, fan: &Fan, show: &Show, seat: u32) {
    let mut fan = Fan { id: fan.id, api: Api::at(node.url()).with_token(fan.api.token()) };
    fan.go_inside(show).await;
    fan.buy(show, seat).await;
}

async fn wait_for(system: &System, what: &str, sql: &str, expected: u32) {
    until_within(PATIENCE, what, async || (system.ask(sql) == expected.to_string()).then_some(()))
        .await;
}

/// A worker dies after it has acted and before it has committed to the broker; the next one gets
/// the same messages and acts on none of them again. Then a message that cannot be processed: it
/// becomes a dead letter with its own message, and has one effect when it is replayed after the
/// cause is gone.
#[tokio::test(flavor = "multi_thread")]
async fn what_comes_again_acts_once_and_what_cannot_act_waits_for_its_replay() {
    let system = block_in_place(System::with_kafka);
    let made = async |world: &crate::support::world::World, _: &Show| world.fans(5).await;
    let (show, fans) = system.prepare(Plan::default(), made).await;
    let shop = system.node("api,admitter");
    for (seat, fan) in (0..N_BOUGHT).zip(&fans) {
        buy_at(&shop, fan, &show, seat).await;
    }

    let armed = [("PODO_FAIL_POINT", "worked:1".to_owned())];
    // It may die before it is ready.
    if let Ok(mut doomed) = block_in_place(|| system.try_node("worker", &armed)) {
        let has_died = async || doomed.has_ended().unwrap().then_some(());
        until_within(PATIENCE, "it dies behind its effect", has_died).await;
    }
    let n_marks: u32 = system.ask(MARKS).parse().unwrap();
    assert!(n_marks > 0, "it acted before it died");
    let heir = system.node("worker");
    for worker in ["booking", "notification"] {
        let has_seen = async || (n_consumed(&heir, worker).await >= N_BOUGHT).then_some(());
        until_within(PATIENCE, &format!("{worker} has seen them again"), has_seen).await;
    }
    assert_eq!(system.ask(MARKS), (2 * N_BOUGHT).to_string());
    assert_eq!(
        (system.ask(NOTIFICATIONS), system.ask(SOLD)),
        (N_BOUGHT.to_string(), N_BOUGHT.to_string())
    );

    // A broken schema makes the next message fail.
    let table = "alter table reservation_service.sales_by_grade";
    system.ask(&format!("{table} add constraint a_mistake check (sold <= {N_BOUGHT})"));
    buy_at(&shop, &fans[3], &show, N_BOUGHT).await;
    wait_for(&system, "it is a dead letter", DEAD, 1).await;
    wait_for(&system, "its notification is written all the same", NOTIFICATIONS, N_BOUGHT + 1)
        .await;
    let (is_fine, listed) = system.podo(&["admin", "dlq", "list"]);
    assert!(is_fine && listed.contains("booking") && listed.contains("a_mistake"), "{listed}");
    let bus = Bus::open(system.config().kafka().unwrap()).unwrap();
    let told = read_all(&bus, &[Topic::DeadLetter], 1).await;
    let told = decode(&told[0]).unwrap();
    assert_eq!(told.kind, MessageKind::DeadLettered);
    assert!(told.payload.contains("ReservationConfirmed"), "{}", told.payload);

    // Replayed too early it fails again; replayed after the cause is gone it has one effect.
    let again = || system.podo(&["admin", "dlq", "replay", "--all"]);
    assert!(again().1.contains("1 will be retried."));
    let tried = "select count(*) from common.dead_letters where status = 'OPEN' and attempts = 4";
    wait_for(&system, "it failed again", tried, 1).await;
    system.ask(&format!("{table} drop constraint a_mistake"));
    assert!(again().0);
    wait_for(&system, "it has acted", SOLD, N_BOUGHT + 1).await;
    wait_for(&system, "it is closed", DEAD, 0).await;
    assert_eq!(system.ask(NOTIFICATIONS), (N_BOUGHT + 1).to_string());
    system.verify();
}
