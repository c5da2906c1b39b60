//! Alternates rounds of ours with rounds of the yardsticks, and takes the medians of their rates.

use crate::cli::bench::figure::{Beside, Cost, Figure, Times};
use crate::cli::bench::yardsticks::{PGBENCH_CLIENTS, Yardsticks, pgbench, redis_benchmark};
use anyhow::{Result, bail};
use podo_load::{Hello, Latencies, LoadRun, Target, commit_one_by_one, greet, greet_at};

pub(crate) const ROUNDS: usize = 5;

/// About the length of one of our responses.
const HELLO_LENGTH: usize = 300;

pub(crate) const PER_SECOND: &str = "per second";

const HELLO: &str = "hello world on bare hyper";

/// Rates and latencies of the rounds.
#[derive(Default)]
struct Rounds {
    rates: Vec<f64>,
    latencies: Latencies,
    n_answers: u64,
}

impl Rounds {
    fn add(&mut self, load_run: &LoadRun) {
        self.rates.push(load_run.per_second());
        self.n_answers += load_run.statuses.values().sum::<u64>();
        self.latencies.add_all(&load_run.latencies);
    }
}

/// The rounds of ours and of the yardsticks.
pub(crate) struct Table<'a> {
    yardsticks: &'a Yardsticks,
    hello: Hello,
    n_requests: usize,
    ours: Rounds,
    hellos: Rounds,
    /// Rates of `pgbench` with its best number of clients and with as many as ours, of SQLite
    /// alone, and of Redis.
    transactions: Vec<f64>,
    transactions_of_many: Vec<f64>,
    inserts: Vec<f64>,
    lookups: Vec<f64>,
    /// The server's meter at the start of the round, and the cost of all rounds.
    began_at: f64,
    spent: f64,
}

impl Table<'_> {
    pub(crate) fn new(yardsticks: &Yardsticks, n_requests: usize) -> Result<Table<'_>> {
        let hello = Hello::start(HELLO_LENGTH)?;
        Ok(Table {
            yardsticks,
            hello,
            n_requests,
            ours: Rounds::default(),
            hellos: Rounds::default(),
            transactions: Vec::new(),
            transactions_of_many: Vec::new(),
            inserts: Vec::new(),
            lookups: Vec::new(),
            began_at: yardsticks.meter.begin(yardsticks.server)?,
            spent: 0.0,
        })
    }

    /// Starts the meter for the next round.
    pub(crate) fn begin(&mut self) -> Result<()> {
        self.began_at = self.yardsticks.meter.begin(self.yardsticks.server)?;
        Ok(())
    }

    /// Adds a round, and measures the yardsticks right after it. Nearly all responses must have
    /// this status: a server that refuses quickly is not fast.
    pub(crate) async fn add(&mut self, load_run: LoadRun, status: u16) -> Result<()> {
        self.take(&load_run, status)?;
        let target = Target::at(&self.hello.url())?;
        self.hellos.add(&greet(&target, self.n_requests, self.yardsticks.n_connections).await?);
        self.begin()
    }

    /// Like `add`, for requests at a fixed rate, which the yardstick must sustain too.
    pub(crate) async fn add_at(&mut self, load_run: LoadRun, status: u16, rate: f64) -> Result<()> {
        self.take(&load_run, status)?;
        let target = Target::at(&self.hello.url())?;
        let n_connections = self.yardsticks.n_connections;
        self.hellos.add(&greet_at(&target, self.n_requests, n_connections, rate).await?);
        self.begin()
    }

    /// Like `add`, for responses from memory: measures Redis too, if given.
    pub(crate) async fn add_lookups(&mut self, load_run: LoadRun, status: u16) -> Result<()> {
        self.add(load_run, status).await?;
        if let Some(redis) = &self.yardsticks.redis {
            self.lookups.push(redis_benchmark(redis)?);
        }
        self.begin()
    }

    /// Like `add`, for commits: measures SQLite alone, and `pgbench` if given.
    pub(crate) async fn add_commits(&mut self, load_run: LoadRun, status: u16) -> Result<()> {
        self.add(load_run, status).await?;
        self.inserts.push(commit_one_by_one(&self.yardsticks.folder)?);
        if let Some(database) = &self.yardsticks.pgbench {
            self.transactions.push(pgbench(database, PGBENCH_CLIENTS)?);
            let many = self.yardsticks.n_connections;
            self.transactions_of_many.push(pgbench(database, many)?);
        }
        self.begin()
    }

    fn take(&mut self, load_run: &LoadRun, status: u16) -> Result<()> {
        let n_expected = load_run.statuses.get(&status).copied().unwrap_or(0);
        let n_all: u64 = load_run.statuses.values().sum();
        if n_expected + 10 < n_all {
            bail!(
                "{n_expected} of {n_all} responses have status {status}: {:?}",
                load_run.statuses
            );
        }
        self.ours.add(load_run);
        self.spent += self.yardsticks.meter.spent(self.yardsticks.server, self.began_at)?;
        Ok(())
    }

    pub(crate) fn figure(&self, what: impl Into<String>) -> Figure {
        let times = Times::of(&self.hellos.latencies);
        let value = median(&self.hellos.rates);
        let mut beside = vec![Beside { what: HELLO.into(), value, times }];
        let update = |n_clients| format!("pgbench simple-update, {n_clients} clients");
        for (what, rates) in [
            (update(PGBENCH_CLIENTS), &self.transactions),
            (update(self.yardsticks.n_connections), &self.transactions_of_many),
            ("SQLite, one insert per COMMIT".into(), &self.inserts),
            ("redis-benchmark GET, 64 clients".into(), &self.lookups),
        ] {
            if !rates.is_empty() {
                beside.push(Beside { what, value: median(rates), times: None });
            }
        }
        let times = Times::of(&self.ours.latencies);
        let value = median(&self.ours.rates);
        let each = self.spent / self.ours.n_answers.max(1) as f64;
        let cost = Some(Cost { each, unit: self.yardsticks.meter.unit() });
        Figure { what: what.into(), value, unit: PER_SECOND, times, cost, beside }
    }
}

fn median(rates: &[f64]) -> f64 {
    let mut sorted = rates.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[rates.len() / 2]
}
