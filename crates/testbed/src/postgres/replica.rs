//! A second server that follows the first and can take its place.

use super::Postgres;
use crate::engine::Owner;
use crate::{NotStarted, engine};
use std::io::{Error, Result};

impl Postgres {
    /// Copies the server and starts the copy, which follows it from then on. Returns when the
    /// copy streams.
    pub fn replica(&self) -> std::result::Result<Postgres, NotStarted> {
        let mut replica =
            Postgres::prepare(self.durability).map_err(|error| super::missing(&error))?;
        let mut copy = replica.programs.server("pg_basebackup");
        copy.args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", super::USER]);
        copy.args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync", "--pgdata"]);
        copy.arg(replica.data());
        engine::run(&mut copy).map_err(|error| replica.not_started(&error))?;
        replica.serve_on_free_port(&Owner::Us)?;
        replica.wait_until_streaming().map_err(|error| replica.not_started(&error))?;
        Ok(replica)
    }

    /// Makes a replica a server of its own. Returns when it takes writes.
    pub fn promote(&self) -> Result<()> {
        let sql = format!("select pg_promote(true, {})", engine::PATIENCE.as_secs());
        match self.psql("postgres", &sql)?.as_str() {
            "t" => Ok(()),
            other => Err(Error::other(format!("the replica was not promoted: `{other}`"))),
        }
    }

    fn wait_until_streaming(&self) -> Result<()> {
        let sql = "select count(*) from pg_stat_wal_receiver where status = 'streaming'";
        engine::wait_until("the replica streams", || Ok(self.psql("postgres", sql)? == "1"))
    }
}
