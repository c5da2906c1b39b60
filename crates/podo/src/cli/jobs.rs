//! `podo jobs`.

use crate::bootstrap;
use crate::config::Config;
use crate::jobs::{Job, run_by_hand};
use crate::server::all_schedules;
use anyhow::{Context, Result};
use clap::Subcommand;
use std::process::ExitCode;

#[derive(Subcommand)]
pub(super) enum Jobs {
    /// List every job: when it runs, and how its last round on any node went.
    List,
    /// Run rounds of a job here and now, until nothing is left to do.
    Run { name: String },
}

pub(super) async fn run(command: Jobs, config: Config) -> Result<ExitCode> {
    match command {
        Jobs::List => list(&config).await,
        Jobs::Run { name } => {
            let known = || Job::ALL.map(Job::name).join(", ");
            let job = Job::named(&name)
                .with_context(|| format!("no job is named `{name}`; choose from {}", known()))?;
            let context = bootstrap::context(&config).await?.context;
            let (mut done, mut failed) = (0, 0);
            loop {
                let round = run_by_hand(&context, job).await?;
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
    let context = bootstrap::context(config).await?.context;
    let runs = context.store.job_runs().await?;
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
