//! Personal data is never in plain text in PostgreSQL, Redis, Kafka or the logs (I23).

use crate::support::canary;
use crate::support::world::until;
use crate::system::System;
use podo_testbed::Gateways;
use tokio::task::block_in_place;

#[tokio::test(flavor = "multi_thread")]
async fn no_personal_data_is_found_in_the_engines_or_the_logs() {
    let portone = Gateways::start().unwrap();
    let mut system = block_in_place(System::with_kafka);
    let podo = system.node_with("api,admitter,worker", &canary::settings(&portone));
    let secrets = canary::live(podo.url(), &portone).await;
    let waiting = "select count(*) from common.outbox where status <> 'PUBLISHED'";
    until("all is published", async || (system.ask(waiting) == "0").then_some(())).await;
    system.ask("checkpoint");
    let kafka = system.broker().folder().to_owned();
    let postgres = system.postgres.folder().to_owned();
    let redis = system.live.server();
    redis.cli(&["config", "set", "rdbcompression", "no"]).unwrap();
    redis.cli(&["save"]).unwrap();
    let log = podo.log_path();
    let folders = [postgres.as_path(), redis.folder(), &kafka, log.parent().unwrap()];
    for folder in folders {
        assert_eq!(canary::found_in(folder, &secrets), Vec::<String>::new());
    }
    // The control: the search itself finds published text in the broker's files.
    assert_ne!(canary::found_in(&kafka, &["ReservationConfirmed".to_owned()]).len(), 0);
    redis.cli(&["set", "canary", &secrets[0]]).unwrap();
    redis.cli(&["save"]).unwrap();
    assert_eq!(canary::found_in(redis.folder(), &secrets).len(), 1);
}
