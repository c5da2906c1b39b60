//! Rates of seat requests, each compared with a bare hyper server in the same run.

use crate::cli::bench::figure::Figure;
use crate::cli::bench::figure::table::{ROUNDS, Table};
use crate::cli::bench::yardsticks::Yardsticks;
use anyhow::Result;
use podo_domain::ScheduleId;
use podo_load::{Crowd, FanAccount, Target};

/// Reads of the seat map in one round.
const LOOKS: usize = 50_000;

/// Reads of the seat map in one round, if the response is the whole map.
const WHOLE_LOOKS: usize = 10_000;

pub(super) const WALLET_PURCHASES: &str = "wallet purchases of two seats";

/// Every fan holds four separate seats, a fifth of the crowd in each round.
pub(super) async fn holds(
    target: Target,
    schedule: ScheduleId,
    accounts: &[FanAccount],
    yardsticks: &Yardsticks,
) -> Result<Vec<Figure>> {
    let crowd = Crowd::queue(target, schedule, accounts, yardsticks.n_connections).await?;
    let n_each = accounts.len() / ROUNDS;
    let mut table = Table::new(yardsticks, n_each)?;
    for round in 0..ROUNDS {
        let fans = round * n_each..(round + 1) * n_each;
        table.add_commits(crowd.hold(fans, 4).await?, 201).await?;
    }
    Ok(vec![table.figure("holds of four seats")])
}

/// Every fan pays for two seats from the wallet in one call, a fifth of the crowd in each round.
pub(super) async fn purchases(
    target: Target,
    schedule: ScheduleId,
    accounts: &[FanAccount],
    yardsticks: &Yardsticks,
) -> Result<Vec<Figure>> {
    let crowd = Crowd::queue(target, schedule, accounts, yardsticks.n_connections).await?;
    let n_each = accounts.len() / ROUNDS;
    let mut table = Table::new(yardsticks, n_each)?;
    for round in 0..ROUNDS {
        let ready = crowd.prepare_to_pay(round * n_each..(round + 1) * n_each).await?;
        table.begin()?;
        table.add_commits(crowd.pay(ready).await?, 200).await?;
    }
    Ok(vec![table.figure(WALLET_PURCHASES)])
}

/// The seat map, for clients with a cached version and for those without.
pub(super) async fn map(
    target: Target,
    schedule: ScheduleId,
    accounts: &[FanAccount],
    yardsticks: &Yardsticks,
) -> Result<Vec<Figure>> {
    let crowd = Crowd::queue(target, schedule, accounts, yardsticks.n_connections).await?;
    let (n_looks, n_whole) = (yardsticks.meter.cut(LOOKS), yardsticks.meter.cut(WHOLE_LOOKS));
    let mut again = Table::new(yardsticks, n_looks)?;
    let mut whole = Table::new(yardsticks, n_whole)?;
    for _ in 0..ROUNDS {
        again.begin()?;
        again.add(crowd.look_again(n_looks).await?, 304).await?;
        whole.begin()?;
        whole.add(crowd.look(n_whole).await?, 200).await?;
    }
    Ok(vec![again.figure("seat map, unchanged (304)"), whole.figure("seat map, two bits per seat")])
}
