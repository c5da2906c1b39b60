//! `podo verify`: checks every invariant with a query to the store.

use crate::bootstrap;
use crate::bootstrap::Store;
use crate::config::Config;
use anyhow::{Result, bail};
use clap::Args;
use podo_app::operations::port::invariants::Finding;
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct Verify {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Also compare the live engine with the store: the fans inside, and the seat filter. Needs an
    /// engine that the nodes share.
    #[arg(long)]
    live: bool,
}

pub(super) async fn run(verify: Verify, config: Config) -> Result<ExitCode> {
    if let Store::Sqlite(path) = Store::named_by(&config.store_url, &config.data)?
        && !path.exists()
    {
        bail!("no database at {}; pass its folder with --data", path.display());
    }
    if verify.live && config.live_url == "memory:" {
        bail!(
            "--live: the memory engine is visible only to its own server; --live needs a shared live_url"
        );
    }
    let bootstrapped = bootstrap::context(&config).await?;
    let (context, now) = (&bootstrapped.context, bootstrapped.context.now());
    let findings = match verify.live {
        true => podo_app::operations::verification::check_with_engine(context, now).await?,
        false => podo_app::operations::verification::check(context, now).await?,
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
