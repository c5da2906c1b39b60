//! Rates of one kind of request, each compared with a bare hyper server in the same run.

use crate::cli::bench::figure::Figure;
use crate::cli::bench::figure::table::{ROUNDS, Table};
use crate::cli::bench::yardsticks::Yardsticks;
use anyhow::{Result, bail};
use podo_domain::ScheduleId;
use podo_load::{Crowd, FanAccount, Target};

/// Requests in one round.
const POLLS: usize = 50_000;

/// How many fans wait before the queue grows.
const FEW: usize = 10_000;

/// How many of the others enter at once: their requests and responses stay in memory until then.
const AT_ONCE: usize = 100_000;

/// The share of the highest rate at which latencies are compared, because no one runs a server at
/// its limit.
const CALM: f64 = 0.5;

/// Fans enter, and waiting fans poll.
pub(super) async fn polls(
    target: Target,
    schedule: ScheduleId,
    accounts: &[FanAccount],
    yardsticks: &Yardsticks,
) -> Result<Vec<Figure>> {
    let mut crowd = Crowd::queue(target.clone(), schedule, &[], yardsticks.n_connections).await?;
    let n_each = accounts.len().div_ceil(ROUNDS).max(1);
    let mut table = Table::new(yardsticks, n_each)?;
    for some in accounts.chunks(n_each) {
        let others = Crowd::queue(target.clone(), schedule, some, yardsticks.n_connections).await?;
        table.add(others.entering().clone(), 200).await?;
        crowd.join(others);
    }
    let entering = table.figure("entering");
    let polls = polls_of(&crowd, yardsticks).await?;
    let n_polls = polls_in_a_round(&crowd, yardsticks);
    let rate = polls.value * CALM;
    let mut table = Table::new(yardsticks, n_polls)?;
    for _ in 0..ROUNDS {
        table.add_at(crowd.poll_at(n_polls, rate).await?, 200, rate).await?;
    }
    let calm = table.figure("polls at half that rate, open loop");
    Ok(vec![entering, polls, calm])
}

/// The same polls with a few and with all fans waiting.
pub(super) async fn growth(
    target: Target,
    schedule: ScheduleId,
    accounts: &[FanAccount],
    yardsticks: &Yardsticks,
) -> Result<Vec<Figure>> {
    let (few, others) = accounts.split_at(FEW.min(accounts.len()));
    let mut crowd = Crowd::queue(target.clone(), schedule, few, yardsticks.n_connections).await?;
    let mut figures = vec![polls_of(&crowd, yardsticks).await?];
    for some in others.chunks(AT_ONCE) {
        crowd.join(Crowd::queue(target.clone(), schedule, some, yardsticks.n_connections).await?);
    }
    figures.push(polls_of(&crowd, yardsticks).await?);
    Ok(figures)
}

/// Each fan polls only a few times per round, because the poll rate limit refuses more.
/// Two of each fan at the most: the server refuses those who poll much more often than it asks.
fn polls_in_a_round(crowd: &Crowd, yardsticks: &Yardsticks) -> usize {
    yardsticks.meter.cut(POLLS).min(2 * crowd.n_waiting())
}

async fn polls_of(crowd: &Crowd, yardsticks: &Yardsticks) -> Result<Figure> {
    let n_polls = polls_in_a_round(crowd, yardsticks);
    let mut table = Table::new(yardsticks, n_polls)?;
    for _ in 0..ROUNDS {
        table.add_lookups(crowd.poll(n_polls).await?, 200).await?;
    }
    Ok(table.figure(format!("polls of {} waiting fans", crowd.n_waiting())))
}

/// All fans attempt the first seat, then the second, and so on: one of them gets each.
pub(super) async fn one_seat(
    target: Target,
    schedule: ScheduleId,
    accounts: &[FanAccount],
    yardsticks: &Yardsticks,
) -> Result<Vec<Figure>> {
    let crowd = Crowd::queue(target, schedule, accounts, yardsticks.n_connections).await?;
    let mut table = Table::new(yardsticks, accounts.len())?;
    for seat in 0..ROUNDS {
        let load_run = crowd.want(schedule.seat(u32::try_from(seat)?)).await?;
        if load_run.statuses.get(&201) != Some(&1) {
            bail!("exactly one fan must get the seat, but: {:?}", load_run.statuses);
        }
        table.add(load_run, 409).await?;
    }
    Ok(vec![table.figure(format!("attempts of {} on one seat", crowd.n_inside()))])
}
