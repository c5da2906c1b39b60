//! A replica that follows the server and can be promoted.

use crate::engine::Owner;
use crate::postgres::Postgres;
use crate::{NotStarted, engine};
use std::io::{Error, Result};

impl Postgres {
    /// Copies the server and starts the copy as its replica. Returns once the replica streams.
    pub fn replica(&self) -> std::result::Result<Postgres, NotStarted> {
        let mut replica =
            Postgres::prepare(self.durability).map_err(|error| crate::postgres::missing(&error))?;
        let mut copy = replica.programs.server("pg_basebackup");
        copy.args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", crate::postgres::USER]);
        copy.args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync", "--pgdata"]);
        copy.arg(replica.data());
        engine::run(&mut copy).map_err(|error| replica.not_started(&error))?;
        replica.serve_on_free_port(&Owner::Us)?;
        replica.wait_until_streaming().map_err(|error| replica.not_started(&error))?;
        Ok(replica)
    }

    /// Promotes a replica. Returns once it accepts writes.
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
