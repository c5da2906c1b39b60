//! Rounds of ours and of the yardsticks in turn, and the table of their medians.

use anyhow::{Context, Result, bail};
use load::{Hello, Target, Volley, greet};
use std::process::Command;

pub(super) const CONNECTIONS: usize = 64;

pub(super) const ROUNDS: usize = 5;

/// About as long as an answer of ours.
const HELLO_LENGTH: usize = 300;

/// What our rates are compared with in the same run.
#[derive(Default)]
pub(super) struct Yardsticks {
    /// A database filled by `pgbench --initialize`.
    pub(super) pgbench: Option<String>,
}

/// Rates of the rounds, ours and the yardsticks'.
pub(super) struct Table<'a> {
    yardsticks: &'a Yardsticks,
    hello: Hello,
    n_requests: usize,
    ours: Vec<f64>,
    hellos: Vec<f64>,
    transactions: Vec<f64>,
}

impl Table<'_> {
    pub(super) fn new(yardsticks: &Yardsticks, n_requests: usize) -> Result<Table<'_>> {
        let hello = Hello::start(HELLO_LENGTH)?;
        let (ours, hellos, transactions) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Table { yardsticks, hello, n_requests, ours, hellos, transactions })
    }

    /// Takes a round in and measures the yardsticks at once. All but a few answers must have this
    /// status: a server that refuses quickly is not fast.
    pub(super) async fn add(&mut self, volley: Volley, status: u16) -> Result<()> {
        let n_expected = volley.statuses.get(&status).copied().unwrap_or(0);
        let n_all: u64 = volley.statuses.values().sum();
        if n_expected + 10 < n_all {
            bail!("{n_expected} of {n_all} answers are {status}: {:?}", volley.statuses);
        }
        self.ours.push(volley.per_second());
        let target = Target::at(&self.hello.url())?;
        self.hellos.push(greet(&target, self.n_requests, CONNECTIONS).await?.per_second());
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

    pub(super) fn print(&self, what: &str) {
        let (ours, hellos) = (median(&self.ours), median(&self.hellos));
        println!("{:<36}{:>12}{:>22}", "", "per second", "ours is, times that");
        println!("{what:<36}{ours:>12.0}");
        println!("{:<36}{hellos:>12.0}{:>22.2}", "hello world on bare hyper", ours / hellos);
        if !self.transactions.is_empty() {
            let transactions = median(&self.transactions);
            let what = "pgbench simple-update, 8 clients";
            println!("{what:<36}{transactions:>12.0}{:>22.2}", ours / transactions);
        }
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
