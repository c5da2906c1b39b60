//! `podo admin rotate-keys`: seals every personal field with the current key.

use crate::config::Config;
use crate::wire;
use anyhow::{Result, bail};
use app::Platform;
use app::ports::sealed::SealedTable;
use app::rotation::reseal;
use indicatif::{ProgressBar, ProgressStyle};
use std::process::ExitCode;

const ROWS_PER_ROUND: u32 = 200;

/// Rows that are changed at the very moment are met again; more often than this is no chance.
const PASSES_MAX: u32 = 5;

pub(super) async fn run(config: Config) -> Result<ExitCode> {
    let platform = wire::platform(&config).await?.platform;
    let mut n_resealed = 0;
    for table in SealedTable::ALL {
        n_resealed += rotate(&platform, table).await?;
    }
    println!("Sealed {n_resealed} rows anew; all personal fields are under the current key.");
    println!(
        "field_secret_previous can be emptied when every node has been started with the new key."
    );
    Ok(ExitCode::SUCCESS)
}

async fn rotate(platform: &Platform, table: SealedTable) -> Result<u64> {
    let mut n_resealed = 0;
    for _ in 0..PASSES_MAX {
        let (n_more, n_missed) = pass(platform, table).await?;
        n_resealed += n_more;
        if n_missed == 0 {
            return Ok(n_resealed);
        }
    }
    bail!("some rows were changed again and again; run the command once more")
}

/// Once through the table: how many rows were sealed anew, and how many were missed.
async fn pass(platform: &Platform, table: SealedTable) -> Result<(u64, u64)> {
    let bar = ProgressBar::new(platform.store.n_sealed_rows(table).await?);
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}")?;
    bar.set_style(style);
    bar.set_message(table.seals().0);
    let (mut n_resealed, mut n_missed) = (0, 0);
    let mut after = None;
    loop {
        let round = reseal(platform, table, after, ROWS_PER_ROUND).await?;
        n_resealed += round.n_resealed;
        n_missed += round.n_missed;
        bar.inc(round.n_seen);
        if round.last.is_none() {
            bar.finish_and_clear();
            return Ok((n_resealed, n_missed));
        }
        after = round.last;
    }
}
