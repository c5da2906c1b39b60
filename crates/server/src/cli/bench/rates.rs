//! Rates of one kind of request, each beside a bare hyper server in the same run.

use anyhow::{Result, bail};
use domain::ScheduleId;
use load::{Crowd, FanAccount, Hello, Target, Volley, greet};

pub(super) const CONNECTIONS: usize = 64;

pub(super) const ROUNDS: usize = 5;

/// Requests of one round.
const POLLS: usize = 50_000;

/// About as long as an answer of ours.
const HELLO_LENGTH: usize = 300;

/// Fans enter, and those who wait poll.
pub(super) async fn polls(
    target: Target,
    schedule: ScheduleId,
    accounts: &[FanAccount],
) -> Result<()> {
    let mut crowd = Crowd::queue(target.clone(), schedule, &[], CONNECTIONS).await?;
    let n_each = accounts.len().div_ceil(ROUNDS).max(1);
    let mut table = Table::new(n_each)?;
    for some in accounts.chunks(n_each) {
        let others = Crowd::queue(target.clone(), schedule, some, CONNECTIONS).await?;
        table.add(others.entering().clone(), 200).await?;
        crowd.join(others);
    }
    table.print("entering");
    println!("{} fans wait", accounts.len() - crowd.n_inside());
    let mut table = Table::new(POLLS)?;
    for _ in 0..ROUNDS {
        table.add(crowd.poll(POLLS).await?, 200).await?;
    }
    table.print("polls");
    Ok(())
}

/// Everybody wants the first seat, then the second, and so on: each gets it once.
pub(super) async fn one_seat(
    target: Target,
    schedule: ScheduleId,
    accounts: &[FanAccount],
) -> Result<()> {
    let crowd = Crowd::queue(target, schedule, accounts, CONNECTIONS).await?;
    println!("{} fans are inside", crowd.n_inside());
    let mut table = Table::new(accounts.len())?;
    for seat in 0..ROUNDS {
        let volley = crowd.want(schedule.seat(u32::try_from(seat)?)).await?;
        if volley.statuses.get(&201) != Some(&1) {
            bail!("one fan gets the seat, but: {:?}", volley.statuses);
        }
        table.add(volley, 409).await?;
    }
    table.print("attempts on one seat");
    Ok(())
}

/// Rates of the rounds, ours and the yardstick's.
pub(super) struct Table {
    hello: Hello,
    n_requests: usize,
    ours: Vec<f64>,
    hellos: Vec<f64>,
}

impl Table {
    pub(super) fn new(n_requests: usize) -> Result<Table> {
        let hello = Hello::start(HELLO_LENGTH)?;
        Ok(Table { hello, n_requests, ours: Vec::new(), hellos: Vec::new() })
    }

    /// Takes a round in and measures the yardstick at once. All but a few answers must have this
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

    pub(super) fn print(&self, what: &str) {
        let (ours, hellos) = (median(&self.ours), median(&self.hellos));
        println!("{:<28}{:>12}{:>9}", "", "per second", "ratio");
        println!("{:<28}{hellos:>12.0}{:>9.2}", "hello world on bare hyper", 1.0);
        println!("{what:<28}{ours:>12.0}{:>9.2}", ours / hellos);
    }
}

fn median(rates: &[f64]) -> f64 {
    let mut sorted = rates.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[rates.len() / 2]
}
