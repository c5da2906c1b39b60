//! `podo bench`: simulates fans over HTTP, against its own server or a running one.

mod all;
mod attack;
mod figure;
mod memory;
mod own_shows;
mod phases;
mod process;
mod rates;
mod sales;
mod seats;
mod yardsticks;

use crate::bootstrap;
use crate::cli::stage;
use crate::cli::stage::Show;
use crate::cli::stage::fans;
use crate::cli::stage::own_server::{OwnServer, program};
use crate::cli::verify;
use crate::config::Config;
use crate::simulated_fans;
use anyhow::{Context, Result};
use clap::Args;
use figure::Figure;
use figure::page::Findings;
use podo_domain::ScheduleId;
use podo_domain::waiting_room::QueueSettings;
use podo_load::{Crowd, FanAccount, Stay, Target};
use process::Meter;
use sales::Scale;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use yardsticks::Yardsticks;

/// What the fans do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Profile {
    /// Queue, choose seats and pay.
    Sale,
    /// Gather in the lobby, get drawn, poll at the given intervals, choose seats and pay, and log
    /// every position.
    Opening,
    /// The same with a crowd of a whole country: fans who learn that everything is sold go home.
    National,
    /// Wait and poll, compared with as many requests to a bare hyper server.
    Polls,
    /// Poll with ten thousand waiting, then with all of them: does a poll cost more?
    Growth,
    /// All attempt the same seat, compared with as many requests to a bare hyper server.
    OneSeat,
    /// Hold four separate seats each, compared with as many requests to a bare hyper server.
    Holds,
    /// Pay for two seats from the wallet in one call, compared with `pgbench` if given.
    Wallet,
    /// Wait on open connections: how much server memory does one take?
    Connections,
    /// Wait on the waiting room's streams: how much memory does one take, and how much processor
    /// time an event?
    Streams,
    /// Read the seat map, compared with as many requests to a bare hyper server.
    SeatMap,
    /// Poll while hostile connections don't read their responses: do the fans get theirs within
    /// twice the time?
    Attack,
    /// Leave a message each while the bus is down: how fast does the relay publish them afterwards?
    Drain,
    /// Scan the tickets of all fans at fifty gates behind one address, five a second each, under
    /// the default limits.
    Gates,
    /// Sell 500 dates, then do nothing: what does the idle server cost, and what do purchases by 1,
    /// 8 and 256 clients, compared with the fresh store?
    Grown,
    /// Half of the fans verify, wait for a presale for members and buy in it, the others wait for
    /// the general sale; a quarter of the orders has a ticket type, a quarter a code.
    Phases,
    /// Upload a member list with a line for each fan: how fast is it read, and with how much memory?
    Members,
}

#[derive(Args, Clone)]
pub(super) struct Bench {
    /// What the fans do.
    #[arg(long, value_enum, default_value_t = Profile::Sale)]
    profile: Profile,
    /// Run every profile in turn, with the numbers of fans and seats that its figure needs.
    #[arg(long, conflicts_with_all = ["profile", "url", "fans", "seats"])]
    all: bool,
    /// Write one page with all figures and the course of the sale.
    #[arg(long, value_name = "FILE")]
    report: Option<std::path::PathBuf>,
    /// Write the table of figures and the machine into this Markdown file, between the comments
    /// `<!-- podo bench: embedded -->` and `<!-- end of the table -->`. Instead of `embedded`, the
    /// first comment names the engines: `PostgreSQL and Redis`, with Kafka
    /// `PostgreSQL, Redis and Kafka`.
    #[arg(long, value_name = "FILE")]
    table: Option<std::path::PathBuf>,
    /// Number of fans.
    #[arg(long, default_value_t = 2_000)]
    fans: u32,
    /// Seats of the arena on a server started for the benchmark.
    #[arg(long, default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    seats: u32,
    /// Most seats that one fan selects.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=4))]
    seats_per_fan: u32,
    /// Spread the arrivals over this many seconds; 0 means all at once.
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
    /// Use a running server; needs --schedule.
    #[arg(long, requires = "schedule", conflicts_with = "profile", value_name = "URL")]
    url: Option<String>,
    /// The schedule to buy from on that server.
    #[arg(long, value_name = "ID")]
    schedule: Option<ScheduleId>,
    /// Connections that the fans share in all profiles except a sale.
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// A database initialized by `pgbench --initialize`, to measure its commits for comparison.
    #[arg(long, value_name = "URL")]
    pgbench: Option<String>,
    /// A Redis server, to measure its reads for comparison.
    #[arg(long, value_name = "URL")]
    redis: Option<String>,
    /// Count the server's instructions per response with valgrind's callgrind. Slow: use few fans.
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
            let sale =
                sales::play(sales::plan(&bench, schedule), Target::at(url)?, Vec::new()).await;
            keep(&bench, &Findings { figures: vec![sales::purchases(&sale)], sale: Some(sale) })?;
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            if let Some(file) = &bench.table {
                figure::with_table(&read(file)?, title(&config), &[])?;
            }
            let title = title(&config);
            config.data = config.data.join(format!("bench-{}", std::process::id()));
            let found = match bench.all {
                true => Box::pin(all::run(&bench, &config)).await,
                false => Box::pin(against_own_server(&bench, &config)).await,
            };
            let _ = std::fs::remove_dir_all(&config.data);
            let (findings, is_clean) = found?;
            keep(&bench, &findings)?;
            if let Some(file) = &bench.table {
                write(file, figure::with_table(&read(file)?, title, &findings.figures)?)?;
            }
            Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
    }
}

fn read(file: &Path) -> Result<String> {
    std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

fn write(file: &Path, text: String) -> Result<()> {
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// Names the table of figures after the engines that the server runs on.
fn title(config: &Config) -> &'static str {
    match (is_embedded(config), config.bus.reaches_others()) {
        (true, _) => "embedded",
        (false, false) => "PostgreSQL and Redis",
        (false, true) => "PostgreSQL, Redis and Kafka",
    }
}

fn is_embedded(config: &Config) -> bool {
    config.store_url.starts_with("sqlite:")
}

/// Writes the findings to the files named on the command line.
fn keep(bench: &Bench, findings: &Findings) -> Result<()> {
    if let Some(file) = &bench.json {
        let sale = findings.sale.as_ref().map(|sale| &sale.report);
        let all = serde_json::json!({ "figures": findings.figures, "sale": sale });
        write(file, serde_json::to_string_pretty(&all)?)?;
    }
    if let Some(file) = &bench.report {
        write(file, figure::page::html(findings))?;
    }
    Ok(())
}

/// Creates a show with its fans, starts a server, runs the profile, stops the server and checks all
/// invariants. Returns the findings, and whether every limit and invariant holds.
async fn against_own_server(bench: &Bench, config: &Config) -> Result<(Findings, bool)> {
    if let Some((figures, is_kept)) = own_shows::measure(bench, config).await? {
        figures.iter().for_each(|figure| println!("{figure}"));
        return Ok((Findings { figures, sale: None }, is_kept));
    }
    let (schedule, accounts) = prepare(bench, config).await?;
    // Before the server starts, which then reads a complete date.
    let phased = phases::plan(bench, config, schedule).await?;
    let meter = match bench.instructions {
        true => Meter::Instructions(config.data.clone()),
        false => Meter::Time,
    };
    let mut server = start(&config.data, bench.profile.limits(), &meter)?;
    let target = Target::at(&server.url)?;
    let (findings, is_kept) = match bench.profile {
        Profile::Sale => {
            let plan = sales::plan(bench, schedule);
            let (figures, sale) = sales::measure(plan, target, accounts, &server).await?;
            (Findings { figures, sale: Some(sale) }, true)
        }
        Profile::Opening | Profile::National => {
            let scale = Scale::of(bench.profile).context("the profile is an opening")?;
            let plan = scale.plan(bench, schedule);
            let target = scale.target(target);
            let (figures, sale) = sales::measure(plan, target, accounts, &server).await?;
            let is_kept = scale.judge(&sale.report);
            (Findings { figures, sale: Some(sale) }, is_kept)
        }
        Profile::Phases => {
            let plan = phased.context("the phases are staged")?;
            let (figures, sale) = sales::measure(plan, target, accounts, &server).await?;
            let is_kept = phases::judge(&sale.report);
            (Findings { figures, sale: Some(sale) }, is_kept)
        }
        Profile::Connections | Profile::Streams => {
            let crowd = Crowd::queue(target, schedule, &accounts, bench.connections).await?;
            let kinds = bench.profile.kinds_of_connections();
            let figures = memory::connections(&crowd, kinds, server.process.id()).await?;
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
        | Profile::Gates
        | Profile::Grown
        | Profile::Members
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
    let bootstrapped = bootstrap::context(config).await?;
    let invariants = bootstrapped.context.store.check_all(bootstrapped.context.now()).await?;
    verify::print(&invariants);
    Ok((findings, is_kept && invariants.iter().all(|invariant| invariant.n_broken == 0)))
}

/// Creates the fans' accounts and their show.
async fn prepare(bench: &Bench, config: &Config) -> Result<(ScheduleId, Vec<FanAccount>)> {
    let context = bootstrap::context(config).await?.context;
    let bar = fans::bar(u64::from(bench.fans), "accounts");
    let progress = |n| bar.set_position(u64::from(n));
    let accounts = simulated_fans::accounts(&context, bench.fans, progress).await?;
    bar.finish_and_clear();
    stage::settle(&context).await?;
    let show = Show {
        title: "Benchmark".into(),
        artist: "The Grapes",
        opens_in: bench.profile.opens_in(bench.fans),
        n_seats: bench.seats,
        queue: bench.profile.queue(),
    };
    let schedule = stage::set(&context, &show).await?;
    Ok((schedule, accounts))
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
        | Profile::National
        | Profile::Connections
        | Profile::Streams
        | Profile::Attack
        | Profile::Gates
        | Profile::Grown
        | Profile::Phases
        | Profile::Members
        | Profile::Drain => Ok(Vec::new()),
    }
}

impl Profile {
    /// Polls are rate limited as in production, but the crowd's few addresses get higher limits.
    /// The other profiles do in a second what takes people an hour, so they run without limits.
    fn limits(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Profile::Polls | Profile::Growth => &[
                ("PODO_LIMITS", "on"),
                ("PODO_REQUESTS_PER_SECOND_PER_IP", "10000000"),
                ("PODO_REQUESTS_PER_MINUTE_PER_USER", "10000000"),
                ("PODO_CONNECTIONS_PER_IP", "10000"),
            ],
            // Attackers face the default limits.
            Profile::Attack => &[
                ("PODO_LIMITS", "on"),
                ("PODO_REQUESTS_PER_SECOND_PER_IP", "10000000"),
                ("PODO_REQUESTS_PER_MINUTE_PER_USER", "10000000"),
            ],
            Profile::Sale
            | Profile::Opening
            | Profile::National
            | Profile::OneSeat
            | Profile::Holds
            | Profile::Wallet
            | Profile::Connections
            | Profile::Streams
            | Profile::SeatMap
            | Profile::Gates
            | Profile::Grown
            | Profile::Phases
            | Profile::Members
            | Profile::Drain => &[("PODO_LIMITS", "off")],
        }
    }

    /// The connections that every fan opens.
    fn kinds_of_connections(self) -> &'static [Stay] {
        match self == Profile::Streams {
            true => &[Stay::Listening],
            false => &[Stay::Polling, Stay::Listening],
        }
    }

    fn opens_in(self, n_fans: u32) -> Duration {
        // Phases need a sale that hasn't opened.
        if matches!(self, Profile::Phases | Profile::Members) {
            return phases::opens_in(n_fans);
        }
        Scale::of(self).map_or(Duration::ZERO, |scale| scale.opens_in(n_fans))
    }

    /// Polls need waiting fans; all other profiles need admitted ones.
    fn queue(self) -> QueueSettings {
        if let Some(scale) = Scale::of(self) {
            return scale.queue();
        }
        match self {
            Profile::Polls
            | Profile::Growth
            | Profile::Connections
            | Profile::Streams
            | Profile::Attack => QueueSettings { max_active: 1, ..QueueSettings::default() },
            Profile::Sale
            | Profile::Opening
            | Profile::National
            | Profile::OneSeat
            | Profile::Holds
            | Profile::Wallet
            | Profile::SeatMap
            | Profile::Gates
            | Profile::Grown
            | Profile::Phases
            | Profile::Members
            | Profile::Drain => QueueSettings {
                max_active: 100_000,
                admit_per_second: 100_000,
                ..QueueSettings::default()
            },
        }
    }
}

/// Starts the server under test on a free port.
fn start(data: &Path, settings: &[(&str, &str)], meter: &Meter) -> Result<OwnServer> {
    let mut program = program()?;
    if let Some(mut runner) = meter.runner() {
        runner.arg(program.get_program());
        program = runner;
    }
    program.envs(settings.iter().copied()).env("RUST_LOG", "warn");
    OwnServer::start(program, "127.0.0.1:0", data)
}
