//! PostgreSQL's durability settings for acknowledged commits.

use crate::sql::engine::postgres::connect::settings::PostgresSettings;
use crate::sql::engine::postgres::migrate::{answered, connected, explain};

/// How the primary replicates its WAL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replication {
    /// Connected standbys.
    pub n_standbys: u32,
    /// The standbys that a commit waits for; empty for none.
    pub synchronous_standby_names: String,
    /// The level of durability that a commit waits for.
    pub synchronous_commit: String,
}

impl Replication {
    /// Whether a commit is flushed to disk before it is acknowledged.
    pub fn waits_for_disk(&self) -> bool {
        self.synchronous_commit != "off"
    }

    /// Whether a commit reaches another server before it is acknowledged.
    pub fn waits_for_standby(&self) -> bool {
        let is_asked = !matches!(self.synchronous_commit.as_str(), "off" | "local");
        is_asked && !self.synchronous_standby_names.is_empty()
    }

    pub(crate) async fn of(settings: &PostgresSettings) -> Result<Replication, String> {
        let sql = "select (select count(*) from pg_stat_replication)::bigint as n_standbys,
                          current_setting('synchronous_standby_names') as standby_names,
                          current_setting('synchronous_commit') as synchronous_commit";
        let ask = connected(settings.session()?, async |client| {
            let row = client.query_one(sql, &[]).await.map_err(explain)?;
            let n_standbys: i64 = row.get("n_standbys");
            Ok(Replication {
                n_standbys: u32::try_from(n_standbys).unwrap_or(u32::MAX),
                synchronous_standby_names: row.get("standby_names"),
                synchronous_commit: row.get("synchronous_commit"),
            })
        });
        answered(settings, ask).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_waits_for_what_both_settings_ask() {
        let waits = |names: &str, commit: &str| {
            let replication = Replication {
                n_standbys: 1,
                synchronous_standby_names: names.to_owned(),
                synchronous_commit: commit.to_owned(),
            };
            (replication.waits_for_disk(), replication.waits_for_standby())
        };
        assert_eq!(waits("*", "on"), (true, true));
        assert_eq!(waits("*", "remote_apply"), (true, true));
        assert_eq!(waits("*", "local"), (true, false));
        assert_eq!(waits("", "on"), (true, false));
        assert_eq!(waits("*", "off"), (false, false));
    }
}
