//! `podo rehearse`: runs a copy of a date in its own sandbox with the expected crowd and injected
//! failures, and prints a verdict. It only reads the date itself.

mod advice;
mod original;
mod process;
mod verdict;

use crate::cli::stage;
use crate::cli::stage::Billing;
use crate::cli::stage::fans;
use crate::cli::stage::own_server::OwnServer;
use crate::cli::stage::terms;
use crate::cli::stage::terms::Staged;
use crate::cli::verify;
use crate::config::{Config, Overrides};
use crate::{bootstrap, simulated_fans};
use advice::Advice;
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use original::Original;
use podo_app::AppContext;
use podo_domain::ScheduleId;
use podo_domain::waiting_room::{QueueMode, QueueSettings};
use podo_load::{Arrival, FanAccount, LoadPlan, Progress, Report, Target};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use verdict::Verdict;

#[derive(Args)]
pub(super) struct Rehearse {
    /// The date to rehearse; it is only read, never changed.
    #[arg(long, value_name = "ID")]
    schedule: ScheduleId,
    /// Number of fans; by default two per seat, at most 5,000.
    #[arg(long)]
    fans: Option<u32>,
    /// Failures to inject, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',')]
    chaos: Vec<Chaos>,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Chaos {
    /// Kill the server and its store in the middle of the sale, and restart them.
    Store,
    /// Charge a third of the cards, but lose the gateway's response.
    Gateway,
    /// Deliver every gateway webhook three times, before and after the response.
    Webhooks,
}

const FANS_MAX: u32 = 5_000;

/// Enough fans to measure this machine; more would show the same.
const MEASURE_FANS_MAX: u32 = 1_000;

/// How long a hundred fans take to arrive; half of them arrive in the first eighth.
const RUSH_PER_HUNDRED: Duration = Duration::from_secs(1);

/// Phases, types, codes and kept seats are set before the sale opens.
const TERMS_WITHIN: Duration = Duration::from_secs(15);

pub(super) async fn run(rehearse: Rehearse, config: Config) -> Result<ExitCode> {
    let original = original::read(&config, rehearse.schedule).await?;
    let folder = Folder::new(&config.data)?;
    let sandbox = sandbox(&folder.0)?;
    let fans = rehearse.fans.unwrap_or(original.n_seats.saturating_mul(2).min(FANS_MAX)).max(1);
    println!(
        "{}: {} seats, {fans} fans, in its own sandbox. The date is not changed, and \
         no notification is sent.",
        original.title, original.n_seats
    );
    if !original.is_plain() {
        println!("{}", original.describe());
    }
    let advice = measure(&rehearse, &original, &sandbox, fans).await?;
    let is_sound = Box::pin(play(&rehearse, &original, &sandbox, fans, &advice)).await?;
    println!("{advice}");
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The sandbox's folder, deleted after the rehearsal.
struct Folder(PathBuf);

impl Folder {
    fn new(data: &Path) -> Result<Folder> {
        let folder = data.join(format!("rehearsal-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        Ok(Folder(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Settings that share nothing with the real ones: no store, no gateway, no mail.
fn sandbox(folder: &Path) -> Result<Config> {
    let overrides = Overrides { data: Some(folder.to_owned()), ..Overrides::default() };
    Config::load(&overrides, |_name| None)
}

fn billing(original: &Original, queue: QueueSettings) -> Billing {
    Billing {
        title: original.title.clone(),
        artist: "Rehearsal",
        opens_in: Duration::ZERO,
        template: original.template.clone(),
        prices: original.prices.clone(),
        seats_per_person: original.seats_per_person,
        seats_per_order: original.seats_per_order,
        resale_delay: original.resale_delay,
        // Simulated fans cannot verify their identity, and skip the proof of work.
        queue: QueueSettings {
            mode: QueueMode::Auto,
            identity_required: false,
            challenge_bits: 0,
            ..queue
        },
    }
}

async fn prepare(
    context: &AppContext,
    billing: Billing,
    fans: u32,
) -> Result<(ScheduleId, Vec<FanAccount>)> {
    let schedule = stage::put_on(context, billing).await?;
    let accounts = simulated_fans::accounts(context, fans, |_| {}).await?;
    stage::settle(context).await?;
    Ok((schedule, accounts))
}

/// How many fans this machine serves without a waiting room.
async fn measure(
    rehearse: &Rehearse,
    original: &Original,
    sandbox: &Config,
    fans: u32,
) -> Result<Advice> {
    let fans = fans.min(MEASURE_FANS_MAX);
    let open = QueueSettings {
        max_active: 100_000,
        admit_per_second: 100_000,
        ..QueueSettings::default()
    };
    let bootstrapped = bootstrap::context(sandbox).await?;
    let (schedule, accounts) =
        prepare(&bootstrapped.context, billing(original, open), fans).await?;
    drop(bootstrapped);
    let mut server = process::start(&sandbox.data)?;
    let plan = LoadPlan {
        fans,
        poll_cap: Some(Duration::from_millis(200)),
        seed: rehearse.seed,
        ..LoadPlan::for_schedule(schedule)
    };
    let (report, course) = fans::play(plan, Target::at(&server.url)?, accounts).await;
    server.stop()?;
    Ok(Advice::of(&original.queue, &report, &course))
}

/// Runs the crowd with injected failures, and checks the result.
async fn play(
    rehearse: &Rehearse,
    original: &Original,
    sandbox: &Config,
    fans: u32,
    advice: &Advice,
) -> Result<bool> {
    let bootstrapped = bootstrap::context(sandbox).await?;
    let opens_in = if original.is_plain() { Duration::ZERO } else { TERMS_WITHIN };
    let billing = Billing { opens_in, ..billing(original, advice.settings()) };
    let accounts = simulated_fans::accounts(&bootstrapped.context, fans, |_| {}).await?;
    let schedule = stage::put_on(&bootstrapped.context, billing).await?;
    let staged = match original.is_plain() {
        true => None,
        false => {
            let terms = original.terms(fans, phase_length(fans));
            Some(terms::set(&bootstrapped.context, schedule, terms).await?)
        }
    };
    stage::settle(&bootstrapped.context).await?;
    drop(bootstrapped);
    let mut server = process::start(&sandbox.data)?;
    let plan = with_terms(plan(rehearse, schedule, fans), staged);
    let report = sale(rehearse, &mut server, &sandbox.data, plan, accounts.clone()).await?;
    server.stop()?;
    println!("{report}\n{}", report.places);
    let bootstrapped = bootstrap::context(sandbox).await?;
    let findings = bootstrapped.context.store.check_all(bootstrapped.context.now()).await?;
    verify::print(&findings);
    let was_killed = rehearse.chaos.contains(&Chaos::Store);
    let verdict = Verdict { report: &report, findings: &findings, was_killed };
    verdict.print(&bootstrapped.context, &accounts, advice.max_active).await
}

/// A phase is long enough for its fans on a slow machine.
fn phase_length(fans: u32) -> Duration {
    Duration::from_secs(20) + RUSH_PER_HUNDRED * fans / 100
}

/// Fans of a later phase wait until it opens.
fn with_terms(plan: LoadPlan, staged: Option<Staged>) -> LoadPlan {
    match staged {
        Some(Staged { phases, checkout }) => {
            let patience = Duration::from_secs(3_600);
            LoadPlan { phases, checkout, patience, ..plan }
        }
        None => plan,
    }
}

fn plan(rehearse: &Rehearse, schedule: ScheduleId, fans: u32) -> LoadPlan {
    let has = |chaos: Chaos| rehearse.chaos.contains(&chaos);
    let by_card = has(Chaos::Gateway) || has(Chaos::Webhooks);
    LoadPlan {
        fans,
        arrival: Arrival::Rush(RUSH_PER_HUNDRED * fans / 100),
        abandon_share: 0.1,
        card_share: if by_card { 0.7 } else { 0.3 },
        decline_share: 0.05,
        late_share: if has(Chaos::Gateway) { 0.33 } else { 0.0 },
        webhooks: if has(Chaos::Webhooks) { 3 } else { 0 },
        // A restart takes the server some seconds.
        trouble_retries: if has(Chaos::Store) { 8 } else { 2 },
        seed: rehearse.seed,
        ..LoadPlan::for_schedule(schedule)
    }
}

/// Runs the plan. With `Chaos::Store` the server dies when a quarter of the fans have finished.
async fn sale(
    rehearse: &Rehearse,
    server: &mut OwnServer,
    data: &Path,
    plan: LoadPlan,
    accounts: Vec<FanAccount>,
) -> Result<Report> {
    let (fans, target) = (u64::from(plan.fans), Target::at(&server.url)?);
    let bar = fans::bar(fans, "fans done");
    let n_finished = AtomicU64::new(0);
    let show = |progress: Progress| {
        n_finished.store(progress.finished, Ordering::Relaxed);
        bar.set_position(progress.finished);
    };
    let mut playing = std::pin::pin!(podo_load::run(plan, target, accounts, show));
    let quarter = async {
        while n_finished.load(Ordering::Relaxed) * 4 < fans {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let early = tokio::select! {
        report = &mut playing => Some(report),
        () = quarter, if rehearse.chaos.contains(&Chaos::Store) => None,
    };
    let report = match early {
        Some(_) if rehearse.chaos.contains(&Chaos::Store) => {
            bail!("the sale ended before the store could be killed: use more fans")
        }
        Some(report) => report,
        None => {
            process::kill_and_restart(server, data)?;
            println!("The server was killed and restarted.");
            playing.await
        }
    };
    bar.finish_and_clear();
    Ok(report)
}
