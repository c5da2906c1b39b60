//! Rounds of ours and of the yardsticks in turn, and the medians of their rates.

use super::figure::{Beside, Figure, Times};
use anyhow::{Context, Result, bail};
use load::{Hello, Latencies, Target, Volley, greet, greet_at};
use std::process::Command;

pub(super) const CONNECTIONS: usize = 64;

pub(super) const ROUNDS: usize = 5;

/// About as long as an answer of ours.
const HELLO_LENGTH: usize = 300;

pub(super) const PER_SECOND: &str = "per second";

const HELLO: &str = "hello world on bare hyper";

/// What our rates are compared with in the same run.
#[derive(Default)]
pub(super) struct Yardsticks {
    /// A database filled by `pgbench --initialize`.
    pub(super) pgbench: Option<String>,
}

/// Rates and times of the rounds.
#[derive(Default)]
struct Rounds {
    rates: Vec<f64>,
    latencies: Latencies,
}

impl Rounds {
    fn add(&mut self, volley: &Volley) {
        self.rates.push(volley.per_second());
        self.latencies.add_all(&volley.latencies);
    }
}

/// The rounds of ours and of the yardsticks.
pub(super) struct Table<'a> {
    yardsticks: &'a Yardsticks,
    hello: Hello,
    n_requests: usize,
    ours: Rounds,
    hellos: Rounds,
    transactions: Vec<f64>,
}

impl Table<'_> {
    pub(super) fn new(yardsticks: &Yardsticks, n_requests: usize) -> Result<Table<'_>> {
        let hello = Hello::start(HELLO_LENGTH)?;
        let (ours, hellos, transactions) = (Rounds::default(), Rounds::default(), Vec::new());
        Ok(Table { yardsticks, hello, n_requests, ours, hellos, transactions })
    }

    /// Takes a round in and measures the yardsticks at once. All but a few answers must have this
    /// status: a server that refuses quickly is not fast.
    pub(super) async fn add(&mut self, volley: Volley, status: u16) -> Result<()> {
        self.take(&volley, status)?;
        let target = Target::at(&self.hello.url())?;
        self.hellos.add(&greet(&target, self.n_requests, CONNECTIONS).await?);
        Ok(())
    }

    /// The same for requests that came at a given rate: the yardstick has to keep up with it too.
    pub(super) async fn add_at(&mut self, volley: Volley, status: u16, rate: f64) -> Result<()> {
        self.take(&volley, status)?;
        let target = Target::at(&self.hello.url())?;
        self.hellos.add(&greet_at(&target, self.n_requests, CONNECTIONS, rate).await?);
        Ok(())
    }

    /// The same for what ends in a commit: `pgbench` has its turn too, if there is one.
    pub(super) async fn add_commits(&mut self, volley: Volley, status: u16) -> Result<()> {
        self.add(volley, status).await?;
        if let Some(database) = &self.yardsticks.pgbench {
            self.transactions.push(pgbench(database)?);
        }
        Ok(())
    }

    fn take(&mut self, volley: &Volley, status: u16) -> Result<()> {
        let n_expected = volley.statuses.get(&status).copied().unwrap_or(0);
        let n_all: u64 = volley.statuses.values().sum();
        if n_expected + 10 < n_all {
            bail!("{n_expected} of {n_all} answers are {status}: {:?}", volley.statuses);
        }
        self.ours.add(volley);
        Ok(())
    }

    pub(super) fn figure(&self, what: impl Into<String>) -> Figure {
        let times = Times::of(&self.hellos.latencies);
        let mut beside = vec![Beside { what: HELLO, value: median(&self.hellos.rates), times }];
        if !self.transactions.is_empty() {
            let value = median(&self.transactions);
            beside.push(Beside { what: "pgbench simple-update, 8 clients", value, times: None });
        }
        let times = Times::of(&self.ours.latencies);
        let value = median(&self.ours.rates);
        Figure { what: what.into(), value, unit: PER_SECOND, times, beside }
    }
}

/// Transactions per second of PostgreSQL's own benchmark, two rows changed in each.
fn pgbench(database: &str) -> Result<f64> {
    let mut pgbench = Command::new("pgbench");
    pgbench.args(["--skip-some-updates", "--no-vacuum", "--protocol=prepared"]);
    pgbench.args(["--client=8", "--jobs=2", "--time=2", database]);
    let ran = pgbench.output().context("cannot start pgbench")?;
    let output = String::from_utf8_lossy(&ran.stdout);
    let rate = output.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next());
    let rate = rate.and_then(|rate| rate.parse().ok());
    rate.with_context(|| format!("pgbench says: {}", String::from_utf8_lossy(&ran.stderr)))
}

fn median(rates: &[f64]) -> f64 {
    let mut sorted = rates.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[rates.len() / 2]
}
