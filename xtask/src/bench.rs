//! `cargo xtask bench`: `podo bench` with the yardsticks that need a server.

use crate::shell::{command, run as show_and_run};
use testbed::{Postgres, Redis};

/// Where the benchmark's server keeps what it knows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stores {
    Embedded,
    Distributed,
}

pub(crate) fn run(stores: Stores, options: &[&str]) -> anyhow::Result<()> {
    let postgres = Postgres::durable()?;
    postgres.prepare_pgbench("yardstick")?;
    let redis = Redis::start()?;
    let mut bench = command("cargo", &["run", "--release", "--", "bench"]);
    bench.args(["--pgbench", &postgres.url("yardstick"), "--redis", &redis.url()]);
    bench.args(options);
    match stores {
        Stores::Embedded => show_and_run(&mut bench),
        Stores::Distributed => {
            postgres.create_database("podo")?;
            bench.env("PODO_STORE_URL", postgres.url("podo"));
            show_and_run(bench.env("PODO_LIVE_URL", redis.url()))
        }
    }
}
