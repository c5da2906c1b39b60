//! `podo backup` and `podo restore`: the embedded store and its secret, copied while the server runs.

use super::verify;
use crate::config::Config;
use crate::data_folder;
use crate::secret;
use crate::wire::{self, Store};
use adapters::sql::SqlStore;
use anyhow::{Context, Result, anyhow, bail};
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const DATABASE: &str = "podo.db";

/// Writes a copy into a new folder.
pub(super) fn back_up(folder: &Path, config: &Config) -> Result<ExitCode> {
    let from = embedded(config)?;
    if !from.exists() {
        bail!("there is no database at {}; name its folder with --data", from.display());
    }
    fs::DirBuilder::new()
        .mode(0o700)
        .create(folder)
        .with_context(|| format!("cannot make {}: it must be new", folder.display()))?;
    let copy = folder.join(DATABASE);
    SqlStore::back_up_sqlite(&from, &copy).map_err(|error| anyhow!(error))?;
    copy_secret(&config.data, folder)?;
    println!("{} is a whole copy, read through; keep its secret.key apart.", folder.display());
    Ok(ExitCode::SUCCESS)
}

/// Puts a copy where there is no database, and asks it about every promise.
pub(super) async fn restore(folder: &Path, config: &Config) -> Result<ExitCode> {
    let to = embedded(config)?;
    if to.exists() {
        bail!("{} exists; move it away, or name another folder with --data", to.display());
    }
    let copy = folder.join(DATABASE);
    if !copy.exists() {
        bail!("{} is no backup: it has no {DATABASE}", folder.display());
    }
    data_folder::make(&config.data)?;
    copy_secret(folder, &config.data)?;
    SqlStore::back_up_sqlite(&copy, &to).map_err(|error| anyhow!(error))?;
    let wired = wire::platform(config).await?;
    let findings = wired.platform.store.check_all(wired.platform.now()).await?;
    verify::print(&findings);
    let is_sound = findings.iter().all(|finding| finding.n_broken == 0);
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn embedded(config: &Config) -> Result<PathBuf> {
    match Store::named_by(&config.store_url, &config.data)? {
        Store::Sqlite(path) => Ok(path),
        Store::Postgres(_) => bail!(
            "the store is PostgreSQL: use `pg_basebackup` or `pg_dump`, and keep secret.key apart"
        ),
    }
}

/// Nothing that was sealed opens without it. Another secret is never overwritten.
fn copy_secret(from: &Path, to: &Path) -> Result<()> {
    let (from, to) = (from.join(secret::FILE), to.join(secret::FILE));
    match (fs::read(&from), fs::read(&to)) {
        (Ok(ours), Ok(theirs)) if ours == theirs => Ok(()),
        (Ok(_), Ok(_)) => bail!("{} is another secret than {}", to.display(), from.display()),
        (Ok(_), Err(_)) => {
            fs::copy(&from, &to).map(drop).with_context(|| format!("cannot write {}", to.display()))
        }
        (Err(error), _) => Err(error).with_context(|| format!("cannot read {}", from.display())),
    }
}
