//! Yardsticks measured in the same run, besides bare hyper.

use crate::cli::bench::process::Meter;
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::Command;

/// The number of clients with which `pgbench` performs best here.
pub(super) const PGBENCH_CLIENTS: usize = 8;

pub(super) struct Yardsticks {
    /// Connections of the crowd, and of the yardsticks.
    pub(super) n_connections: usize,
    /// A database initialized by `pgbench --initialize`.
    pub(super) pgbench: Option<String>,
    /// A Redis server to measure.
    pub(super) redis: Option<String>,
    /// The folder that SQLite alone writes to, on the store's disk.
    pub(super) folder: PathBuf,
    /// The process under test, and its meter.
    pub(super) server: u32,
    pub(super) meter: Meter,
}

/// Transactions per second in PostgreSQL's own benchmark; each changes two rows.
pub(super) fn pgbench(database: &str, n_clients: usize) -> Result<f64> {
    let mut pgbench = Command::new("pgbench");
    pgbench.args(["--skip-some-updates", "--no-vacuum", "--protocol=prepared"]);
    let n_clients = n_clients.to_string();
    pgbench.args(["--client", &n_clients, "--jobs=2", "--time=2", database]);
    let ran = pgbench.output().context("cannot start pgbench")?;
    let output = String::from_utf8_lossy(&ran.stdout);
    let rate = output.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next());
    let rate = rate.and_then(|rate| rate.parse().ok());
    rate.with_context(|| format!("pgbench failed: {}", String::from_utf8_lossy(&ran.stderr)))
}

/// Responses per second of Redis in its own benchmark.
pub(super) fn redis_benchmark(url: &str) -> Result<f64> {
    let mut benchmark = Command::new("redis-benchmark");
    benchmark.args(["-u", url, "-t", "get", "-c", "64", "-n", "100000", "--csv"]);
    let ran = benchmark.output().context("cannot start redis-benchmark")?;
    let output = String::from_utf8_lossy(&ran.stdout);
    let rate = output.lines().find_map(|line| line.strip_prefix("\"GET\",\"")?.split('"').next());
    let rate = rate.and_then(|rate| rate.parse().ok());
    rate.with_context(|| {
        format!("redis-benchmark failed: {}", String::from_utf8_lossy(&ran.stderr))
    })
}
