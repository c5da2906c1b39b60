//! `podo admin rotate-keys`: encrypts every personal field with the current key.

use crate::bootstrap;
use crate::config::Config;
use anyhow::{Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use podo_app::AppContext;
use podo_app::identity::key_rotation::reencrypt;
use podo_app::identity::port::encrypted_fields::EncryptedTable;
use std::process::ExitCode;

const ROWS_PER_ROUND: u32 = 200;

/// Rows that change during a pass are retried in the next; this many conflicts are no coincidence.
const PASSES_MAX: u32 = 5;

pub(crate) async fn run(config: Config) -> Result<ExitCode> {
    let context = bootstrap::context(&config).await?.context;
    let mut n_reencrypted = 0;
    for table in EncryptedTable::ALL {
        n_reencrypted += rotate(&context, table).await?;
    }
    println!("Re-encrypted {n_reencrypted} rows; all personal fields use the current key.");
    println!("Clear field_secret_previous once every node runs with the new key.");
    Ok(ExitCode::SUCCESS)
}

async fn rotate(context: &AppContext, table: EncryptedTable) -> Result<u64> {
    let mut n_reencrypted = 0;
    for _ in 0..PASSES_MAX {
        let (n_more, n_missed) = pass(context, table).await?;
        n_reencrypted += n_more;
        if n_missed == 0 {
            return Ok(n_reencrypted);
        }
    }
    bail!("some rows kept changing; run the command again")
}

/// One pass over the table: how many rows were re-encrypted, and how many were missed.
async fn pass(context: &AppContext, table: EncryptedTable) -> Result<(u64, u64)> {
    let bar = ProgressBar::new(context.store.n_sealed_rows(table).await?);
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}")?;
    bar.set_style(style);
    bar.set_message(table.keyring().0);
    let (mut n_reencrypted, mut n_missed) = (0, 0);
    let mut after = None;
    loop {
        let round = reencrypt(context, table, after, ROWS_PER_ROUND).await?;
        n_reencrypted += round.n_reencrypted;
        n_missed += round.n_missed;
        bar.inc(round.n_seen);
        if round.last.is_none() {
            bar.finish_and_clear();
            return Ok((n_reencrypted, n_missed));
        }
        after = round.last;
    }
}
