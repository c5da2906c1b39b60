//! Nothing about a person is found in clear in PostgreSQL, Redis or the logs (I23).

use crate::canary;
use crate::system::{Live, System};
use testbed::Gateways;

#[tokio::test(flavor = "multi_thread")]
async fn no_personal_data_is_found_in_the_engines_or_the_logs() {
    let portone = Gateways::start().unwrap();
    let mut system = System::start(Live::single());
    let podo = system.node_with("api,admitter,worker", &canary::settings(&portone));
    let secrets = canary::live(podo.url(), &portone).await;
    system.ask("checkpoint");
    let postgres = system.postgres.folder().to_owned();
    let redis = system.live.server();
    redis.cli(&["config", "set", "rdbcompression", "no"]).unwrap();
    redis.cli(&["save"]).unwrap();
    let log = podo.log_path();
    let folders = [postgres.as_path(), redis.folder(), log.parent().unwrap()];
    for folder in folders {
        assert_eq!(canary::found_in(folder, &secrets), Vec::<String>::new());
    }
    // The search itself works.
    redis.cli(&["set", "canary", &secrets[0]]).unwrap();
    redis.cli(&["save"]).unwrap();
    assert_eq!(canary::found_in(redis.folder(), &secrets).len(), 1);
}
