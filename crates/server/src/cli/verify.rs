//! `podo verify`: every promise as a question to the store.

use crate::config::Config;
use crate::wire::{self, Store};
use anyhow::{Result, bail};
use app::ports::invariants::Finding;
use clap::Args;
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct Verify {
    /// Answer in JSON.
    #[arg(long)]
    json: bool,
    /// Also compare the live engine with the store: who is inside, and the filter of the seats.
    /// Needs an engine that the nodes share.
    #[arg(long)]
    live: bool,
}

pub(super) async fn run(verify: Verify, config: Config) -> Result<ExitCode> {
    if let Store::Sqlite(path) = Store::named_by(&config.store_url, &config.data)?
        && !path.exists()
    {
        bail!("there is no database at {}; name its folder with --data", path.display());
    }
    if verify.live && config.live_url == "memory:" {
        bail!("--live: what is in the memory of a server only that server sees; it needs live_url");
    }
    let wired = wire::platform(&config).await?;
    let (platform, now) = (&wired.platform, wired.platform.now());
    let findings = match verify.live {
        true => app::verification::check_with_engine(platform, now).await?,
        false => app::verification::check(platform, now).await?,
    };
    if verify.json {
        println!("{}", serde_json::to_string_pretty(&findings)?);
    } else {
        print(&findings);
    }
    let is_clean = findings.iter().all(|finding| finding.n_broken == 0);
    Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub(super) fn print(findings: &[Finding]) {
    println!("{:<5} {:>9} {:>7}  must hold", "id", "checked", "broken");
    for finding in findings {
        let Finding { id, n_checked, n_broken, rule, examples, stops: _ } = finding;
        println!("{id:<5} {n_checked:>9} {n_broken:>7}  {rule}");
        for example in examples {
            println!("{:>24}  {example}", "");
        }
    }
    let n_broken = findings.iter().filter(|finding| finding.n_broken > 0).count();
    match n_broken {
        0 => println!("All {} invariants hold.", findings.len()),
        n => println!("{n} of {} invariants are BROKEN.", findings.len()),
    }
}
