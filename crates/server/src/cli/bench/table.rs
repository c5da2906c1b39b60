//! Rounds of ours and of the yardsticks in turn, and the medians of their rates.

use super::figure::{Beside, Cost, Figure, Times};
use super::yardsticks::{PGBENCH_CLIENTS, Yardsticks, pgbench, redis_benchmark};
use anyhow::{Result, bail};
use load::{Hello, Latencies, Target, Volley, commit_one_by_one, greet, greet_at};

pub(super) const ROUNDS: usize = 5;

/// About as long as an answer of ours.
const HELLO_LENGTH: usize = 300;

pub(super) const PER_SECOND: &str = "per second";

const HELLO: &str = "hello world on bare hyper";

/// Rates and times of the rounds.
#[derive(Default)]
struct Rounds {
    rates: Vec<f64>,
    latencies: Latencies,
    n_answers: u64,
}

impl Rounds {
    fn add(&mut self, volley: &Volley) {
        self.rates.push(volley.per_second());
        self.n_answers += volley.statuses.values().sum::<u64>();
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
    /// Of `pgbench`, with its best number of clients and with as many as ours; of SQLite alone, of
    /// Redis.
    transactions: Vec<f64>,
    transactions_of_many: Vec<f64>,
    inserts: Vec<f64>,
    lookups: Vec<f64>,
    /// What the server's meter read when the round began, and what all rounds took.
    began_at: f64,
    spent: f64,
}

impl Table<'_> {
    pub(super) fn new(yardsticks: &Yardsticks, n_requests: usize) -> Result<Table<'_>> {
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

    /// What the server does from now on is for the next round.
    pub(super) fn begin(&mut self) -> Result<()> {
        self.began_at = self.yardsticks.meter.begin(self.yardsticks.server)?;
        Ok(())
    }

    /// Takes a round in and measures the yardsticks at once. All but a few answers must have this
    /// status: a server that refuses quickly is not fast.
    pub(super) async fn add(&mut self, volley: Volley, status: u16) -> Result<()> {
        self.take(&volley, status)?;
        let target = Target::at(&self.hello.url())?;
        self.hellos.add(&greet(&target, self.n_requests, self.yardsticks.n_connections).await?);
        self.begin()
    }

    /// The same for requests that came at a given rate: the yardstick has to keep up with it too.
    pub(super) async fn add_at(&mut self, volley: Volley, status: u16, rate: f64) -> Result<()> {
        self.take(&volley, status)?;
        let target = Target::at(&self.hello.url())?;
        let n_connections = self.yardsticks.n_connections;
        self.hellos.add(&greet_at(&target, self.n_requests, n_connections, rate).await?);
        self.begin()
    }

    /// The same for what is answered from memory: Redis has its turn too, if there is one.
    pub(super) async fn add_lookups(&mut self, volley: Volley, status: u16) -> Result<()> {
        self.add(volley, status).await?;
        if let Some(redis) = &self.yardsticks.redis {
            self.lookups.push(redis_benchmark(redis)?);
        }
        self.begin()
    }

    /// The same for what ends in a commit: SQLite alone has its turn, and `pgbench` if there is one.
    pub(super) async fn add_commits(&mut self, volley: Volley, status: u16) -> Result<()> {
        self.add(volley, status).await?;
        self.inserts.push(commit_one_by_one(&self.yardsticks.folder)?);
        if let Some(database) = &self.yardsticks.pgbench {
            self.transactions.push(pgbench(database, PGBENCH_CLIENTS)?);
            let many = self.yardsticks.n_connections;
            self.transactions_of_many.push(pgbench(database, many)?);
        }
        self.begin()
    }

    fn take(&mut self, volley: &Volley, status: u16) -> Result<()> {
        let n_expected = volley.statuses.get(&status).copied().unwrap_or(0);
        let n_all: u64 = volley.statuses.values().sum();
        if n_expected + 10 < n_all {
            bail!("{n_expected} of {n_all} answers are {status}: {:?}", volley.statuses);
        }
        self.ours.add(volley);
        self.spent += self.yardsticks.meter.spent(self.yardsticks.server, self.began_at)?;
        Ok(())
    }

    pub(super) fn figure(&self, what: impl Into<String>) -> Figure {
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
