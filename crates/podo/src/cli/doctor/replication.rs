//! What a failure of the PostgreSQL primary would lose.

use crate::bootstrap::Store;
use crate::cli::doctor::Verdict;
use crate::config::Config;
use podo_adapters::sql::{Replication, SqlStore};

const DISK: &str = "synchronous_commit = off: a crash loses acknowledged purchases; set it to on";
const STANDBY: &str = "the primary has standbys, and no commit waits for them: a fail-over \
                       loses the last acknowledged purchases; set \
                       synchronous_standby_names, and synchronous_commit = on";

/// SQLite has no standby, and another check reports a server that doesn't respond.
pub(super) async fn examine(config: &Config) -> Verdict {
    let Ok(Store::Postgres(url)) = Store::named_by(&config.store_url, &config.data) else {
        return Verdict::Good;
    };
    let Ok(settings) = config.postgres(&url) else { return Verdict::Good };
    let has_copies =
        !config.replica_urls.is_empty() || crate::cli::doctor::addresses(&url).len() > 1;
    match SqlStore::replication(&settings).await {
        Ok(replication) => judge(&replication, has_copies),
        Err(_) => Verdict::Good,
    }
}

fn judge(replication: &Replication, has_copies: bool) -> Verdict {
    let has_copies = has_copies || replication.n_standbys > 0;
    if !replication.waits_for_disk() {
        return Verdict::Advice(DISK.to_owned());
    }
    crate::cli::doctor::advise(has_copies && !replication.waits_for_standby(), STANDBY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asynchronous_replicas_are_reported() {
        let judged = |n_standbys: u32, names: &str, commit: &str, has_copies: bool| {
            let replication = Replication {
                n_standbys,
                synchronous_standby_names: names.to_owned(),
                synchronous_commit: commit.to_owned(),
            };
            match judge(&replication, has_copies) {
                Verdict::Good => "",
                Verdict::Advice(words) if words == DISK => "disk",
                Verdict::Advice(_) | Verdict::Bad(_) => "standby",
            }
        };
        assert_eq!(judged(0, "", "on", false), "");
        assert_eq!(judged(1, "*", "on", true), "");
        assert_eq!(judged(1, "", "on", false), "standby");
        assert_eq!(judged(0, "", "on", true), "standby");
        assert_eq!(judged(1, "*", "local", false), "standby");
        assert_eq!(judged(0, "", "off", false), "disk");
    }
}
