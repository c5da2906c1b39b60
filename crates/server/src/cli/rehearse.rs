//! `podo rehearse`: a copy of a date in a sandbox of its own, the crowd that is expected, what goes
//! wrong on purpose, and a verdict. The date itself is only read.

mod advice;
mod original;
mod process;
mod verdict;

use super::own_server::OwnServer;
use super::stage::{self, Billing};
use super::{fans, verify};
use crate::config::{Config, Overrides};
use crate::{crowd, wire};
use advice::Advice;
use anyhow::{Result, bail};
use app::Platform;
use clap::{Args, ValueEnum};
use domain::ScheduleId;
use domain::queue::{QueueMode, QueueSettings};
use load::{Arrival, FanAccount, Plan, Progress, Report, Target};
use original::Original;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use verdict::Verdict;

#[derive(Args)]
pub(super) struct Rehearse {
    /// The date to rehearse. It is read, and nothing of it is changed.
    #[arg(long, value_name = "ID")]
    schedule: ScheduleId,
    /// Fans who come; two for each seat when left out, at most 5,000.
    #[arg(long)]
    fans: Option<u32>,
    /// What goes wrong meanwhile, with commas between.
    #[arg(long, value_enum, value_delimiter = ',')]
    chaos: Vec<Chaos>,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Chaos {
    /// The server and its store are killed in the middle of the sale, and started again.
    Store,
    /// A third of the cards are charged, but the gateway's answer gets lost.
    Gateway,
    /// The gateway tells everything three times, before the answer and after it.
    Webhooks,
}

const FANS_MAX: u32 = 5_000;

/// Fans who show what this machine can do; more would show the same.
const MEASURE_FANS_MAX: u32 = 1_000;

/// How long it takes until the last of a hundred fans has come; half come in the first eighth.
const RUSH_PER_HUNDRED: Duration = Duration::from_secs(1);

pub(super) async fn run(rehearse: Rehearse, config: Config) -> Result<ExitCode> {
    let original = original::read(&config, rehearse.schedule).await?;
    let folder = Folder::new(&config.data)?;
    let sandbox = sandbox(&folder.0)?;
    let fans = rehearse.fans.unwrap_or(original.n_seats.saturating_mul(2).min(FANS_MAX)).max(1);
    println!(
        "{}: {} seats, {fans} fans, in a sandbox of its own. Nothing of the date is changed, and \
         no letter leaves the house.",
        original.title, original.n_seats
    );
    let advice = measure(&rehearse, &original, &sandbox, fans).await?;
    let is_sound = Box::pin(play(&rehearse, &original, &sandbox, (fans, &advice))).await?;
    println!("{advice}");
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The sandbox; gone with the rehearsal.
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

/// Settings that have nothing of the real ones: no store, no gateway, no mail.
fn sandbox(folder: &Path) -> Result<Config> {
    let overrides = Overrides { data: Some(folder.to_owned()), ..Overrides::default() };
    Config::load(&overrides, |_name| None)
}

fn billing(original: &Original, queue: QueueSettings) -> Billing {
    Billing {
        title: original.title.clone(),
        opens_in: Duration::ZERO,
        template: original.template.clone(),
        prices: original.prices.clone(),
        seats_per_person: original.seats_per_person,
        resale_delay: original.resale_delay,
        // Simulated fans cannot prove who they are, and solve no riddles.
        queue: QueueSettings {
            mode: QueueMode::Auto,
            identity_required: false,
            challenge_bits: 0,
            ..queue
        },
    }
}

async fn prepare(
    platform: &Platform,
    billing: Billing,
    fans: u32,
) -> Result<(ScheduleId, Vec<FanAccount>)> {
    let schedule = stage::put_on(platform, billing).await?;
    let accounts = crowd::accounts(platform, fans, |_| {}).await?;
    stage::settle(platform).await?;
    Ok((schedule, accounts))
}

/// How many fans this machine serves when all doors are open.
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
    let wired = wire::platform(sandbox).await?;
    let (schedule, accounts) = prepare(&wired.platform, billing(original, open), fans).await?;
    drop(wired);
    let mut server = process::start(&sandbox.data)?;
    let plan = Plan {
        fans,
        poll_cap: Some(Duration::from_millis(200)),
        seed: rehearse.seed,
        ..Plan::for_schedule(schedule)
    };
    let (report, course) = fans::play(plan, Target::at(&server.url)?, accounts).await;
    server.stop()?;
    Ok(Advice::of(&original.queue, &report, &course))
}

/// The crowd, the trouble, and what must be true after it.
async fn play(
    rehearse: &Rehearse,
    original: &Original,
    sandbox: &Config,
    (fans, advice): (u32, &Advice),
) -> Result<bool> {
    let wired = wire::platform(sandbox).await?;
    let billing = billing(original, advice.settings());
    let (schedule, accounts) = prepare(&wired.platform, billing, fans).await?;
    drop(wired);
    let mut server = process::start(&sandbox.data)?;
    let plan = plan(rehearse, schedule, fans);
    let report = sale(rehearse, (&mut server, &sandbox.data), plan, accounts.clone()).await?;
    server.stop()?;
    println!("{report}\n{}", report.places);
    let wired = wire::platform(sandbox).await?;
    let findings = wired.platform.store.check_all(wired.platform.now()).await?;
    verify::print(&findings);
    let was_killed = rehearse.chaos.contains(&Chaos::Store);
    let verdict = Verdict { report: &report, findings: &findings, was_killed };
    verdict.print(&wired.platform, &accounts, advice.max_active).await
}

fn plan(rehearse: &Rehearse, schedule: ScheduleId, fans: u32) -> Plan {
    let has = |chaos: Chaos| rehearse.chaos.contains(&chaos);
    let by_card = has(Chaos::Gateway) || has(Chaos::Webhooks);
    Plan {
        fans,
        arrival: Arrival::Rush(RUSH_PER_HUNDRED * fans / 100),
        abandon_share: 0.1,
        card_share: if by_card { 0.7 } else { 0.3 },
        decline_share: 0.05,
        late_share: if has(Chaos::Gateway) { 0.33 } else { 0.0 },
        webhooks: if has(Chaos::Webhooks) { 3 } else { 0 },
        // A server that is started again is away for some seconds.
        trouble_retries: if has(Chaos::Store) { 8 } else { 2 },
        seed: rehearse.seed,
        ..Plan::for_schedule(schedule)
    }
}

/// Plays the plan; with `Chaos::Store` the server dies when a quarter of the fans are done.
async fn sale(
    rehearse: &Rehearse,
    (server, data): (&mut OwnServer, &Path),
    plan: Plan,
    accounts: Vec<FanAccount>,
) -> Result<Report> {
    let (fans, target) = (u64::from(plan.fans), Target::at(&server.url)?);
    let bar = fans::bar(fans, "fans done");
    let n_finished = AtomicU64::new(0);
    let show = |progress: Progress| {
        n_finished.store(progress.finished, Ordering::Relaxed);
        bar.set_position(progress.finished);
    };
    let mut playing = std::pin::pin!(load::run(plan, target, accounts, show));
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
            bail!("the sale was over before the store could be killed: send more fans")
        }
        Some(report) => report,
        None => {
            process::kill_and_restart(server, data)?;
            println!("The server was killed and started again.");
            playing.await
        }
    };
    bar.finish_and_clear();
    Ok(report)
}
