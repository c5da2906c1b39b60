//! `podo admin reconcile-seats`: the filter in front of the seats against the store, on demand.

use crate::config::Config;
use crate::wire;
use anyhow::{Result, bail};
use app::Platform;
use app::reconciliation::{Look, count, heal, look};
use clap::Args;
use domain::ScheduleId;
use domain::reconciliation::{Difference, GRACE, Kind, Suspects};
use indicatif::{ProgressBar, ProgressStyle};
use std::process::ExitCode;
use std::time::Duration;

#[derive(Args)]
pub(super) struct ReconcileSeats {
    /// Only this schedule; otherwise all that are on sale or about to be.
    #[arg(long, value_name = "ID")]
    schedule: Option<ScheduleId>,
    /// Only look; change nothing, and exit 1 when there is something to heal.
    #[arg(long)]
    dry_run: bool,
    /// Seconds that a difference must last to count. A hold that is just being made looks like
    /// one for as long as its transaction takes.
    #[arg(long, default_value_t = GRACE.as_secs(), value_name = "SECONDS")]
    wait: u64,
}

/// A schedule between the first look and the second.
struct Candidate {
    schedule: ScheduleId,
    suspects: Suspects,
}

pub(super) async fn run(command: ReconcileSeats, config: Config) -> Result<ExitCode> {
    if config.live_url == "memory:" {
        bail!(
            "live_url = \"memory:\" keeps the filter inside the serving process, which reconciles \
             it by itself; this command is for redis://…"
        );
    }
    let platform = wire::platform(&config).await?.platform;
    let wait = Duration::from_secs(command.wait);
    let mut candidates = first_look(&platform, command.schedule, wait).await?;
    pause(&candidates, wait).await;
    println!(
        "{:<36} {:>8} {:>8} {:>8} {:>9} {:>8} {:>8}",
        "schedule", "filter", "store", "missing", "orphaned", "changed", "healed"
    );
    let mut n_left = 0;
    for candidate in &mut candidates {
        let seen = look(&platform, candidate.schedule).await?;
        let found = seen.differences.clone();
        let lasting = candidate.suspects.confirm(found, wait, platform.now());
        let healed = match command.dry_run {
            true => 0,
            false => heal(&platform, candidate.schedule, &lasting, None).await?,
        };
        n_left += lasting.len() as u64 - healed;
        print(candidate.schedule, &seen, &lasting, healed);
    }
    match n_left {
        0 => println!("The filter and the store agree."),
        n => println!("{n} differences are left."),
    }
    Ok(if n_left == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn first_look(
    platform: &Platform,
    only: Option<ScheduleId>,
    wait: Duration,
) -> Result<Vec<Candidate>> {
    let now = platform.now();
    let schedules = match only {
        Some(schedule) => vec![schedule],
        None => platform.store.schedules_alive(now).await?.iter().map(|it| it.schedule).collect(),
    };
    if let Some(schedule) = only
        && platform.store.schedule(schedule).await?.is_none()
    {
        bail!("there is no schedule {schedule}");
    }
    let bar = ProgressBar::new(schedules.len() as u64);
    bar.set_style(ProgressStyle::with_template("looking {wide_bar} {pos}/{len}")?);
    let mut candidates = Vec::with_capacity(schedules.len());
    for schedule in schedules {
        let mut suspects = Suspects::default();
        let found = look(platform, schedule).await?.differences;
        suspects.confirm(found, wait, platform.now());
        candidates.push(Candidate { schedule, suspects });
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(candidates)
}

/// Lets races end. Nothing to wait for when nothing was found.
async fn pause(candidates: &[Candidate], wait: Duration) {
    if candidates.iter().all(|candidate| candidate.suspects.is_empty()) {
        return;
    }
    let bar = ProgressBar::new_spinner().with_message(format!(
        "waiting {} s: a difference that goes away was a hold being made",
        wait.as_secs()
    ));
    bar.enable_steady_tick(Duration::from_millis(100));
    tokio::time::sleep(wait.max(Duration::from_millis(1))).await;
    bar.finish_and_clear();
}

fn print(schedule: ScheduleId, seen: &Look, lasting: &[Difference], healed: u64) {
    let counts = count(lasting);
    let of = |kind| counts.get(&kind).copied().unwrap_or(0);
    let [missing, orphaned, changed] = Kind::ALL.map(of);
    println!(
        "{schedule:<36} {:>8} {:>8} {missing:>8} {orphaned:>9} {changed:>8} {healed:>8}",
        seen.n_filter, seen.n_store
    );
}
