//! `podo admin reconcile-seats`: compares the seat filter with the store on demand.

use crate::bootstrap;
use crate::config::Config;
use anyhow::{Result, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use podo_app::AppContext;
use podo_app::booking::reconciliation::{Look, count, heal, look};
use podo_domain::ScheduleId;
use podo_domain::booking::reconciliation::{Difference, GRACE, Kind, Suspects};
use std::process::ExitCode;
use std::time::Duration;

#[derive(Args)]
pub(crate) struct ReconcileSeats {
    /// Only this schedule; by default all that are on sale or about to be.
    #[arg(long, value_name = "ID")]
    schedule: Option<ScheduleId>,
    /// Change nothing, and exit 1 if there is something to correct.
    #[arg(long)]
    dry_run: bool,
    /// Seconds that a difference must last to count. A hold in progress looks like a difference
    /// until its transaction commits.
    #[arg(long, default_value_t = GRACE.as_secs(), value_name = "SECONDS")]
    wait: u64,
}

/// A schedule between the first and the second comparison.
struct Candidate {
    schedule: ScheduleId,
    suspects: Suspects,
}

pub(crate) async fn run(command: ReconcileSeats, config: Config) -> Result<ExitCode> {
    if config.live_url == "memory:" {
        bail!(
            "live_url = \"memory:\" keeps the filter inside the serving process, which reconciles \
             it itself; this command needs redis://…"
        );
    }
    let context = bootstrap::context(&config).await?.context;
    let wait = Duration::from_secs(command.wait);
    let mut candidates = first_look(&context, command.schedule, wait).await?;
    pause(&candidates, wait).await;
    println!(
        "{:<36} {:>8} {:>8} {:>8} {:>9} {:>8} {:>8}",
        "schedule", "filter", "store", "missing", "orphaned", "changed", "healed"
    );
    let mut n_left = 0;
    for candidate in &mut candidates {
        let seen = look(&context, candidate.schedule).await?;
        let found = seen.differences.clone();
        let lasting = candidate.suspects.confirm(found, wait, context.now());
        let healed = match command.dry_run {
            true => 0,
            false => heal(&context, candidate.schedule, &lasting, None).await?,
        };
        n_left += lasting.len() as u64 - healed;
        print(candidate.schedule, &seen, &lasting, healed);
    }
    match n_left {
        0 => println!("The filter and the store agree."),
        n => println!("{n} differences remain."),
    }
    Ok(if n_left == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn first_look(
    context: &AppContext,
    only: Option<ScheduleId>,
    wait: Duration,
) -> Result<Vec<Candidate>> {
    let now = context.now();
    let schedules = match only {
        Some(schedule) => vec![schedule],
        None => context.store.schedules_alive(now).await?.iter().map(|it| it.schedule).collect(),
    };
    if let Some(schedule) = only
        && context.store.schedule(schedule).await?.is_none()
    {
        bail!("no schedule {schedule} exists");
    }
    let bar = ProgressBar::new(schedules.len() as u64);
    bar.set_style(ProgressStyle::with_template("comparing {wide_bar} {pos}/{len}")?);
    let mut candidates = Vec::with_capacity(schedules.len());
    for schedule in schedules {
        let mut suspects = Suspects::default();
        let found = look(context, schedule).await?.differences;
        suspects.confirm(found, wait, context.now());
        candidates.push(Candidate { schedule, suspects });
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(candidates)
}

/// Waits for races to end, unless nothing was found.
async fn pause(candidates: &[Candidate], wait: Duration) {
    if candidates.iter().all(|candidate| candidate.suspects.is_empty()) {
        return;
    }
    let bar = ProgressBar::new_spinner().with_message(format!(
        "waiting {} s: a difference that disappears was a hold in progress",
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
