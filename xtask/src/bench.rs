//! `cargo xtask bench`: `podo bench` with the yardsticks that need a server.

use crate::shell::{command, run as show_and_run};
use podo_testbed::kafka::OPTIONS;
use podo_testbed::{Kafka, Postgres, Redis};

/// Where the benchmark's server keeps what it knows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stores {
    Embedded,
    Distributed,
    /// The same with a broker.
    Kafka,
}

pub(crate) fn run(stores: Stores, options: &[&str]) -> anyhow::Result<()> {
    let postgres = Postgres::durable()?;
    postgres.prepare_pgbench("yardstick")?;
    let redis = Redis::start()?;
    let mut bench = command("cargo", &["run", "--profile", "dist", "--", "bench"]);
    bench.args(["--pgbench", &postgres.url("yardstick"), "--redis", &redis.url()]);
    bench.args(options);
    if stores == Stores::Embedded {
        return show_and_run(&mut bench);
    }
    postgres.create_database("podo")?;
    bench.env("PODO_STORE_URL", postgres.url("podo")).env("PODO_LIVE_URL", redis.url());
    if stores == Stores::Distributed {
        return show_and_run(&mut bench);
    }
    let kafka = Kafka::start()?;
    let options = OPTIONS.map(|(key, value)| format!("{key}={value}"));
    bench.env("PODO_BUS_URL", kafka.url()).env("PODO_BUS_OPTIONS", options.join(","));
    bench.env("PODO_BUS_IDEMPOTENCE", "off").env("PODO_BUS_CREATE_TOPICS", "off");
    show_and_run(&mut bench)
}
