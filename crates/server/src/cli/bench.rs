//! `podo bench`: plays fans over HTTP against a server of its own, or one that is running.

mod all;
mod attack;
mod drain;
mod figure;
mod memory;
mod opening;
mod page;
mod process;
mod rates;
mod seats;
mod table;
mod yardsticks;

use super::own_server::{OwnServer, program};
use super::stage::{self, Show};
use super::{fans, verify};
use crate::config::Config;
use crate::crowd;
use crate::wire;
use anyhow::{Context, Result};
use clap::Args;
use domain::ScheduleId;
use domain::queue::QueueSettings;
use figure::Figure;
use load::{Arrival, FanAccount, Plan, Target};
use page::{Findings, Sale};
use process::Meter;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use table::PER_SECOND;
use yardsticks::Yardsticks;

/// What the fans do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Profile {
    /// They queue, choose seats and pay.
    Sale,
    /// They gather in the lobby, are drawn, wait as they are told to, choose seats and pay; and keep
    /// a log of their places.
    Opening,
    /// They wait and ask where they stand, beside as many requests to a bare hyper server.
    Polls,
    /// Ten thousand wait and ask, then all of them do: does it cost more?
    Growth,
    /// They all want the same seat, beside as many requests to a bare hyper server.
    OneSeat,
    /// Each holds four seats of their own, beside as many requests to a bare hyper server.
    Holds,
    /// Each pays two seats from the wallet (request and confirm), beside `pgbench` if it is named.
    Wallet,
    /// They wait on open connections; how much memory of the server is one?
    Connections,
    /// They look at the seat map, beside as many requests to a bare hyper server.
    SeatMap,
    /// They wait and ask while strangers hold connections and take none of their answers: are the
    /// fans served within twice the time?
    Attack,
    /// Each has left a message while the bus was away; how fast is it told now?
    Drain,
}

#[derive(Args, Clone)]
pub(super) struct Bench {
    /// What the fans do.
    #[arg(long, value_enum, default_value_t = Profile::Sale)]
    profile: Profile,
    /// Every profile one after the other, with as many fans and seats as its figure asks for.
    #[arg(long, conflicts_with_all = ["profile", "url", "fans", "seats"])]
    all: bool,
    /// Write one page with all figures and the course of the sale.
    #[arg(long, value_name = "FILE")]
    report: Option<std::path::PathBuf>,
    /// Fans who come.
    #[arg(long, default_value_t = 2_000)]
    fans: u32,
    /// Seats of the arena that a server of our own gets.
    #[arg(long, default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    seats: u32,
    /// Most seats that one fan picks.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=4))]
    seats_per_fan: u32,
    /// Spread the arrivals over this many seconds; 0 is all at once.
    #[arg(long, default_value_t = 0)]
    over: u64,
    /// Share of fans who give their seats back.
    #[arg(long, default_value_t = 0.0)]
    abandon: f64,
    /// Share of fans whose card is declined.
    #[arg(long, default_value_t = 0.0)]
    decline: f64,
    /// Share of fans who pay by card instead of from the wallet.
    #[arg(long, default_value_t = 0.0)]
    card: f64,
    /// A server that is running already; needs --schedule.
    #[arg(long, requires = "schedule", conflicts_with = "profile", value_name = "URL")]
    url: Option<String>,
    /// The schedule to buy from on that server.
    #[arg(long, value_name = "ID")]
    schedule: Option<ScheduleId>,
    /// Connections over which the fans of all profiles but a sale come.
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// A database filled by `pgbench --initialize`, to measure commits beside it.
    #[arg(long, value_name = "URL")]
    pgbench: Option<String>,
    /// A Redis server, to measure what is answered from memory beside it.
    #[arg(long, value_name = "URL")]
    redis: Option<String>,
    /// Count the server's instructions per answer with valgrind's callgrind. Slow: bring few fans.
    #[arg(long, conflicts_with_all = ["all", "url"])]
    instructions: bool,
    /// Also write the figures, and the report of a sale, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<std::path::PathBuf>,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(super) async fn run(bench: Bench, mut config: Config) -> Result<ExitCode> {
    match (&bench.url, bench.schedule) {
        (Some(url), Some(schedule)) => {
            let sale = play(sale(&bench, schedule), Target::at(url)?, Vec::new()).await;
            keep(&bench, &Findings { figures: vec![purchases(&sale)], sale: Some(sale) })?;
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            config.data = config.data.join(format!("bench-{}", std::process::id()));
            let found = match bench.all {
                true => Box::pin(all::run(&bench, &config)).await,
                false => Box::pin(against_own_server(&bench, &config)).await,
            };
            let _ = std::fs::remove_dir_all(&config.data);
            let (findings, is_clean) = found?;
            keep(&bench, &findings)?;
            Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
    }
}

/// Writes what was found into the files that were asked for.
fn keep(bench: &Bench, findings: &Findings) -> Result<()> {
    let write = |file: &Path, text: String| {
        std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
    };
    if let Some(file) = &bench.json {
        let sale = findings.sale.as_ref().map(|sale| &sale.report);
        let all = serde_json::json!({ "figures": findings.figures, "sale": sale });
        write(file, serde_json::to_string_pretty(&all)?)?;
    }
    if let Some(file) = &bench.report {
        write(file, page::html(findings))?;
    }
    Ok(())
}

/// Sets the stage, starts a server on it, plays, stops it, and checks every promise. Says what was
/// found, and whether all promises were kept.
async fn against_own_server(bench: &Bench, config: &Config) -> Result<(Findings, bool)> {
    if bench.profile == Profile::Drain {
        let figure = drain::measure(config, bench.fans).await?;
        println!("{figure}");
        return Ok((Findings { figures: vec![figure], sale: None }, true));
    }
    let wired = wire::platform(config).await?;
    let bar = fans::bar(u64::from(bench.fans), "accounts");
    let accounts =
        crowd::accounts(&wired.platform, bench.fans, |n| bar.set_position(u64::from(n))).await?;
    bar.finish_and_clear();
    stage::settle(&wired.platform).await?;
    let show = Show {
        title: "Benchmark".into(),
        opens_in: bench.profile.opens_in(bench.fans),
        n_seats: bench.seats,
        queue: bench.profile.queue(),
    };
    let schedule = stage::set(&wired.platform, &show).await?;
    drop(wired);
    let meter = match bench.instructions {
        true => Meter::Instructions(config.data.clone()),
        false => Meter::Time,
    };
    let mut server = start(&config.data, bench.profile.limits(), &meter)?;
    let target = Target::at(&server.url)?;
    let (findings, is_kept) = match bench.profile {
        Profile::Sale => {
            let sale = play(sale(bench, schedule), target, accounts).await;
            (Findings { figures: vec![purchases(&sale)], sale: Some(sale) }, true)
        }
        Profile::Opening => {
            let sale = play(opening::plan(bench, schedule), target, accounts).await;
            let is_kept = opening::judge(&sale.report);
            (Findings { figures: vec![purchases(&sale)], sale: Some(sale) }, is_kept)
        }
        Profile::Connections => {
            let process = server.process.id();
            let figures =
                memory::connections(target, schedule, &accounts, bench.connections, process)
                    .await?;
            (Findings { figures, sale: None }, true)
        }
        Profile::Attack => {
            let n_connections = bench.connections;
            let (figures, is_kept) =
                attack::measure(target, schedule, &accounts, n_connections, &server).await?;
            (Findings { figures, sale: None }, is_kept)
        }
        Profile::Polls
        | Profile::Growth
        | Profile::OneSeat
        | Profile::Holds
        | Profile::Wallet
        | Profile::SeatMap
        | Profile::Drain => {
            let yardsticks = yardsticks(bench, config, server.process.id(), meter);
            let figures = measure(bench, target, schedule, &accounts, &yardsticks).await?;
            (Findings { figures, sale: None }, true)
        }
    };
    server.stop()?;
    for figure in &findings.figures {
        println!("{figure}");
    }
    let wired = wire::platform(config).await?;
    let promises = wired.platform.store.check_all(wired.platform.now()).await?;
    verify::print(&promises);
    Ok((findings, is_kept && promises.iter().all(|promise| promise.n_broken == 0)))
}

fn yardsticks(bench: &Bench, config: &Config, server: u32, meter: Meter) -> Yardsticks {
    Yardsticks {
        n_connections: bench.connections,
        pgbench: bench.pgbench.clone(),
        redis: bench.redis.clone(),
        folder: config.data.clone(),
        server,
        meter,
    }
}

fn purchases(sale: &Sale) -> Figure {
    let report = &sale.report;
    let what = format!("purchases in a sale with {} fans", report.fans);
    Figure::alone(what, report.purchases_per_second, PER_SECOND)
}

async fn measure(
    bench: &Bench,
    target: Target,
    schedule: ScheduleId,
    accounts: &[FanAccount],
    yardsticks: &Yardsticks,
) -> Result<Vec<Figure>> {
    match bench.profile {
        Profile::Polls => rates::polls(target, schedule, accounts, yardsticks).await,
        Profile::Growth => rates::growth(target, schedule, accounts, yardsticks).await,
        Profile::OneSeat => rates::one_seat(target, schedule, accounts, yardsticks).await,
        Profile::Holds => seats::holds(target, schedule, accounts, yardsticks).await,
        Profile::Wallet => seats::purchases(target, schedule, accounts, yardsticks).await,
        Profile::SeatMap => seats::map(target, schedule, accounts, yardsticks).await,
        Profile::Sale
        | Profile::Opening
        | Profile::Connections
        | Profile::Attack
        | Profile::Drain => Ok(Vec::new()),
    }
}

/// Everybody at once, or over some seconds, with short pauses between polls.
fn sale(bench: &Bench, schedule: ScheduleId) -> Plan {
    let arrival = match bench.over {
        0 => Arrival::AtOnce,
        seconds => Arrival::Over(Duration::from_secs(seconds)),
    };
    Plan {
        fans: bench.fans,
        seats_per_fan_max: bench.seats_per_fan,
        arrival,
        abandon_share: bench.abandon,
        card_share: bench.card,
        decline_share: bench.decline,
        poll_cap: Some(Duration::from_millis(200)),
        seed: bench.seed,
        ..Plan::for_schedule(schedule)
    }
}

async fn play(plan: Plan, target: Target, accounts: Vec<FanAccount>) -> Sale {
    let (report, course) = fans::play(plan, target, accounts).await;
    println!("{report}");
    Sale { report, course }
}

impl Profile {
    /// Polls are counted as in earnest; the few addresses of the crowd may ask so much more.
    /// Elsewhere they do in a second what takes people an hour, so nothing is limited.
    fn limits(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Profile::Polls | Profile::Growth => &[
                ("PODO_LIMITS", "on"),
                ("PODO_REQUESTS_PER_SECOND_PER_IP", "10000000"),
                ("PODO_REQUESTS_PER_MINUTE_PER_USER", "10000000"),
                ("PODO_CONNECTIONS_PER_IP", "10000"),
            ],
            // Strangers have the limits of every installation.
            Profile::Attack => &[
                ("PODO_LIMITS", "on"),
                ("PODO_REQUESTS_PER_SECOND_PER_IP", "10000000"),
                ("PODO_REQUESTS_PER_MINUTE_PER_USER", "10000000"),
            ],
            Profile::Sale
            | Profile::Opening
            | Profile::OneSeat
            | Profile::Holds
            | Profile::Wallet
            | Profile::Connections
            | Profile::SeatMap
            | Profile::Drain => &[("PODO_LIMITS", "off")],
        }
    }

    fn opens_in(self, n_fans: u32) -> Duration {
        match self {
            Profile::Opening => opening::opens_in(n_fans),
            Profile::Sale
            | Profile::Polls
            | Profile::Growth
            | Profile::OneSeat
            | Profile::Holds
            | Profile::Wallet
            | Profile::Connections
            | Profile::SeatMap
            | Profile::Attack
            | Profile::Drain => Duration::ZERO,
        }
    }

    /// Polls need fans who wait; everything else fans who are inside.
    fn queue(self) -> QueueSettings {
        match self {
            Profile::Opening => opening::queue(),
            Profile::Polls | Profile::Growth | Profile::Connections | Profile::Attack => {
                QueueSettings { max_active: 1, ..QueueSettings::default() }
            }
            Profile::Sale
            | Profile::OneSeat
            | Profile::Holds
            | Profile::Wallet
            | Profile::SeatMap
            | Profile::Drain => QueueSettings {
                max_active: 100_000,
                admit_per_second: 100_000,
                ..QueueSettings::default()
            },
        }
    }
}

/// Starts a server to measure, on a free port.
fn start(data: &Path, settings: &[(&str, &str)], meter: &Meter) -> Result<OwnServer> {
    let mut program = program()?;
    if let Some(mut runner) = meter.runner() {
        runner.arg(program.get_program());
        program = runner;
    }
    program.envs(settings.iter().copied()).env("RUST_LOG", "warn");
    OwnServer::start(program, "127.0.0.1:0", data)
}
