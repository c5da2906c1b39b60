//! `podo jobs`.

use crate::config::Config;
use crate::jobs::{Job, run_by_hand};
use crate::running::all_schedules;
use crate::wire;
use anyhow::{Context, Result};
use clap::Subcommand;
use std::process::ExitCode;

#[derive(Subcommand)]
pub(super) enum Jobs {
    /// Every job: when it runs, and how it last went on any node.
    List,
    /// Run rounds of a job here and now, until there is nothing left to do.
    Run { name: String },
}

pub(super) async fn run(command: Jobs, config: Config) -> Result<ExitCode> {
    match command {
        Jobs::List => list(&config).await,
        Jobs::Run { name } => {
            let known = || Job::ALL.map(Job::name).join(", ");
            let job = Job::named(&name)
                .with_context(|| format!("there is no job `{name}`; choose from {}", known()))?;
            let platform = wire::platform(&config).await?.platform;
            let (mut done, mut failed) = (0, 0);
            loop {
                let round = run_by_hand(&platform, job).await?;
                done += round.done;
                failed += round.failed;
                if !round.is_full {
                    break;
                }
            }
            println!("{name}: {done} done, {failed} failed.");
            Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
    }
}

async fn list(config: &Config) -> Result<ExitCode> {
    let platform = wire::platform(config).await?.platform;
    let runs = platform.store.job_runs().await?;
    println!("{:<15} {:<16} {:<24} {:>7} {:>7}  about", "job", "runs", "last", "done", "failed");
    for schedule in all_schedules(config) {
        let (name, about) = (schedule.job.name(), schedule.job.about());
        let timing = schedule.timing.to_string();
        let last = runs.iter().find(|run| run.job == name);
        let (at, done, failed) = match last {
            Some(run) => (run.started_at.to_string(), run.done, run.failed),
            None => ("-".to_owned(), 0, 0),
        };
        println!("{name:<15} {timing:<16} {at:<24} {done:>7} {failed:>7}  {about}");
        if let Some(error) = last.and_then(|run| run.error.as_ref()) {
            println!("{:<15} {error}", "");
        }
    }
    Ok(ExitCode::SUCCESS)
}
