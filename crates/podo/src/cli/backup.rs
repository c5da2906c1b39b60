//! `podo backup` and `podo restore`: copy the embedded store and its secret while the server runs.

use crate::bootstrap;
use crate::bootstrap::Store;
use crate::cli::verify;
use crate::config::Config;
use crate::config::data_folder;
use crate::config::secret;
use anyhow::{Context, Result, anyhow, bail};
use podo_adapters::sql::SqlStore;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const DATABASE: &str = "podo.db";

/// Writes a copy into a new folder.
pub(super) fn back_up(folder: &Path, config: &Config) -> Result<ExitCode> {
    let from = embedded(config)?;
    if !from.exists() {
        bail!("no database at {}; pass its folder with --data", from.display());
    }
    fs::DirBuilder::new()
        .mode(0o700)
        .create(folder)
        .with_context(|| format!("cannot create {}: it must not exist yet", folder.display()))?;
    let copy = folder.join(DATABASE);
    SqlStore::back_up_sqlite(&from, &copy).map_err(|error| anyhow!(error))?;
    copy_secret(&config.data, folder)?;
    println!("{} is a complete, verified copy; store its secret.key separately.", folder.display());
    Ok(ExitCode::SUCCESS)
}

/// Copies a backup to where there is no database, and checks every invariant.
pub(super) async fn restore(folder: &Path, config: &Config) -> Result<ExitCode> {
    let to = embedded(config)?;
    if to.exists() {
        bail!("{} exists; move it away, or pass another folder with --data", to.display());
    }
    let copy = folder.join(DATABASE);
    if !copy.exists() {
        bail!("{} is not a backup: it has no {DATABASE}", folder.display());
    }
    data_folder::make(&config.data)?;
    copy_secret(folder, &config.data)?;
    SqlStore::back_up_sqlite(&copy, &to).map_err(|error| anyhow!(error))?;
    let bootstrapped = bootstrap::context(config).await?;
    let findings = bootstrapped.context.store.check_all(bootstrapped.context.now()).await?;
    verify::print(&findings);
    let is_sound = findings.iter().all(|finding| finding.n_broken == 0);
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn embedded(config: &Config) -> Result<PathBuf> {
    match Store::named_by(&config.store_url, &config.data)? {
        Store::Sqlite(path) => Ok(path),
        Store::Postgres(_) => bail!(
            "the store is PostgreSQL: use `pg_basebackup` or `pg_dump`, and store secret.key separately"
        ),
    }
}

/// Encrypted fields are unreadable without the secret. A different secret is never overwritten.
fn copy_secret(from: &Path, to: &Path) -> Result<()> {
    let (from, to) = (from.join(secret::FILE), to.join(secret::FILE));
    match (fs::read(&from), fs::read(&to)) {
        (Ok(ours), Ok(theirs)) if ours == theirs => Ok(()),
        (Ok(_), Ok(_)) => bail!("{} differs from {}", to.display(), from.display()),
        (Ok(_), Err(_)) => {
            fs::copy(&from, &to).map(drop).with_context(|| format!("cannot write {}", to.display()))
        }
        (Err(error), _) => Err(error).with_context(|| format!("cannot read {}", from.display())),
    }
}
