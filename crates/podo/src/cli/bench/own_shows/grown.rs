//! A store that has grown: many dates on sale, with many purchases. What does it cost while no one
//! buys, does a purchase cost more than on the fresh store, and how long does an export take?

use crate::bootstrap;
use crate::cli::bench::figure::Figure;
use crate::cli::bench::process::{ENGINES, Meter, processor_time_of};
use crate::cli::bench::{Bench, Profile, start};
use crate::cli::stage;
use crate::cli::stage::Show;
use crate::cli::stage::fans;
use crate::config::Config;
use crate::simulated_fans;
use anyhow::{Result, ensure};
use podo_app::AppContext;
use podo_app::operations::admin_search;
use podo_app::operations::port::admin_search::{Look, ReservationSearch};
use podo_app::store::PAGE_MAX;
use podo_domain::ScheduleId;
use podo_load::{Crowd, FanAccount, Target};
use std::time::{Duration, Instant};

/// Dates that are on sale.
const DATES: u32 = 500;

/// Purchases of each fan, on different dates.
const PURCHASES_PER_FAN: u32 = 5;

/// Clients of each measured rate, and the purchases of each.
const CLIENTS: [usize; 3] = [1, 8, 256];
const PURCHASES_PER_CLIENT: usize = 100;
const PURCHASES_MAX: usize = 5_000;

/// How long the started server may settle, and how long it is watched then.
const SETTLE_FOR: Duration = Duration::from_secs(15);
const WATCH_FOR: Duration = Duration::from_secs(30);

struct Stage {
    /// The dates of the rates: on the fresh store, and on the grown one.
    measured: [ScheduleId; 2],
    dates: Vec<ScheduleId>,
    accounts: Vec<FanAccount>,
}

pub(super) async fn measure(bench: &Bench, config: &Config) -> Result<Vec<Figure>> {
    let stage = set(bench, config).await?;
    let settings = Profile::Grown.limits();
    let mut server = start(&config.data, settings, &Meter::Time)?;
    let target = Target::at(&server.url)?;
    let fresh = rates(&target, stage.measured[0], &stage.accounts).await?;
    let n_purchases = grow(&target, &stage).await?;
    let grown = rates(&target, stage.measured[1], &stage.accounts).await?;
    server.stop()?;
    let began = Instant::now();
    let mut server = start(&config.data, settings, &Meter::Time)?;
    let start = began.elapsed();
    tokio::time::sleep(SETTLE_FOR).await;
    let before = Meter::Time.begin(server.process.id())?;
    let engines_before = processor_time_of(&ENGINES)?;
    tokio::time::sleep(WATCH_FOR).await;
    let spent_us = Meter::Time.spent(server.process.id(), before)?;
    let engines_us = (processor_time_of(&ENGINES)? - engines_before).as_micros() as f64;
    server.stop()?;
    let (n_rows, export) = export(&bootstrap::context(config).await?.context).await?;
    let percent = |spent_us: f64| spent_us / WATCH_FOR.as_micros() as f64 * 100.0;
    let mut figures = vec![
        Figure::alone(
            format!("idle server with {DATES} open dates"),
            percent(spent_us),
            "% of a core",
        ),
        Figure::alone("PostgreSQL and Redis beside it", percent(engines_us), "% of a core"),
        Figure::alone("start until it listens", start.as_secs_f64() * 1e3, "ms"),
        Figure::alone(format!("export of {n_rows} reservations"), export.as_secs_f64(), "s"),
    ];
    for (n_clients, (fresh, grown)) in CLIENTS.iter().zip(fresh.into_iter().zip(grown)) {
        let what = format!("wallet purchases, {n_clients} clients, after {n_purchases} others");
        figures.push(Figure::alone(what, grown, "/s").beside("the fresh store", fresh));
    }
    Ok(figures)
}

/// Creates the accounts and all dates.
async fn set(bench: &Bench, config: &Config) -> Result<Stage> {
    let n_needed = CLIENTS.map(n_purchases).into_iter().sum::<usize>();
    ensure!(bench.fans as usize >= n_needed, "--fans must be at least {n_needed}");
    let context = bootstrap::context(config).await?.context;
    let accounts = simulated_fans::accounts(&context, bench.fans, |_| ()).await?;
    stage::settle(&context).await?;
    let show = |title: &str, n_seats| Show {
        title: title.to_owned(),
        artist: "The Grapes",
        opens_in: Duration::ZERO,
        n_seats,
        queue: Profile::Grown.queue(),
    };
    let n_seats = u32::try_from(2 * n_needed)?;
    let fresh = stage::set(&context, &show("Fresh", n_seats)).await?;
    let grown = stage::set(&context, &show("Grown", n_seats)).await?;
    let mut dates = Vec::new();
    let n_seats = 2 * buyers_per_date(bench.fans);
    for number in 0..DATES {
        dates.push(stage::set(&context, &show(&format!("Date {number}"), n_seats)).await?);
    }
    Ok(Stage { measured: [fresh, grown], dates, accounts })
}

fn buyers_per_date(n_fans: u32) -> u32 {
    (n_fans * PURCHASES_PER_FAN / DATES).max(1)
}

fn n_purchases(n_clients: usize) -> usize {
    (n_clients * PURCHASES_PER_CLIENT).min(PURCHASES_MAX)
}

/// Purchases per second by each number of clients, each with its own part of the fans.
async fn rates(
    target: &Target,
    schedule: ScheduleId,
    accounts: &[FanAccount],
) -> Result<[f64; CLIENTS.len()]> {
    let mut rates = [0.0; CLIENTS.len()];
    let mut first = 0;
    for (rate, n_clients) in rates.iter_mut().zip(CLIENTS) {
        let fans = first..first + n_purchases(n_clients);
        first = fans.end;
        let crowd =
            Crowd::queue(target.clone(), schedule, &accounts[..fans.end], n_clients).await?;
        let run = crowd.pay(crowd.prepare_to_pay(fans).await?).await?;
        ensure!(run.statuses.keys().eq([&200]), "unexpected answers: {:?}", run.statuses);
        *rate = run.per_second();
    }
    Ok(rates)
}

/// Every date sells to its part of the fans. Returns the number of purchases.
async fn grow(target: &Target, stage: &Stage) -> Result<usize> {
    const CONNECTIONS: usize = 64;
    let n_buyers = buyers_per_date(u32::try_from(stage.accounts.len())?) as usize;
    let bar = fans::bar(stage.dates.len() as u64, "dates sold");
    let mut buyers = stage.accounts.chunks_exact(n_buyers).cycle();
    for schedule in &stage.dates {
        let Some(buyers) = buyers.next() else { break };
        let crowd = Crowd::queue(target.clone(), *schedule, buyers, CONNECTIONS).await?;
        let run = crowd.pay(crowd.prepare_to_pay(0..n_buyers).await?).await?;
        ensure!(run.statuses.keys().eq([&200]), "unexpected answers: {:?}", run.statuses);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(stage.dates.len() * n_buyers)
}

/// Reads all reservations page by page, as the file of an organiser does. Returns their number and
/// the time.
async fn export(context: &AppContext) -> Result<(usize, Duration)> {
    let began = Instant::now();
    let (mut n_rows, mut before) = (0, None);
    loop {
        let look = Look { cursor: before, ..Look::newest(PAGE_MAX) };
        let page = admin_search::reservations(context, ReservationSearch::default(), look).await?;
        n_rows += page.items.len();
        match page.next_cursor {
            Some(cursor) => before = Some(cursor.parse()?),
            None => return Ok((n_rows, began.elapsed())),
        }
    }
}
