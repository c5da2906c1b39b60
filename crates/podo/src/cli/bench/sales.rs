//! Whole sales: fans who come, wait, choose and pay. In an opening, all of them gather in the lobby
//! and get drawn before.

use crate::cli::bench::figure::Figure;
use crate::cli::bench::figure::page::Sale;
use crate::cli::bench::figure::table::PER_SECOND;
use crate::cli::bench::process::{Shares, peak_kb};
use crate::cli::bench::{Bench, Profile};
use crate::cli::stage::fans;
use crate::cli::stage::own_server::OwnServer;
use anyhow::Result;
use podo_domain::ScheduleId;
use podo_domain::waiting_room::QueueSettings;
use podo_load::{Arrival, Ending, FanAccount, LoadPlan, Report, Target};
use std::time::{Duration, Instant};

/// All fans at once, or over some seconds, with short pauses between polls.
pub(super) fn plan(bench: &Bench, schedule: ScheduleId) -> LoadPlan {
    let arrival = match bench.over {
        0 => Arrival::AtOnce,
        seconds => Arrival::Over(Duration::from_secs(seconds)),
    };
    LoadPlan {
        fans: bench.fans,
        seats_per_fan_max: bench.seats_per_fan,
        arrival,
        abandon_share: bench.abandon,
        card_share: bench.card,
        decline_share: bench.decline,
        poll_cap: Some(Duration::from_millis(200)),
        seed: bench.seed,
        ..LoadPlan::for_schedule(schedule)
    }
}

pub(super) async fn play(plan: LoadPlan, target: Target, accounts: Vec<FanAccount>) -> Sale {
    let (report, course) = fans::play(plan, target, accounts).await;
    println!("{report}");
    Sale { report, course }
}

/// Plays a sale on a server of our own, and measures how long it took, who used the processors, and
/// how much memory the server needed.
pub(super) async fn measure(
    plan: LoadPlan,
    target: Target,
    accounts: Vec<FanAccount>,
    server: &OwnServer,
) -> Result<(Vec<Figure>, Sale)> {
    let process = server.process.id();
    let (before, began) = (Shares::read(process)?, Instant::now());
    let sale = play(plan, target, accounts).await;
    let (length, spent) = (began.elapsed(), Shares::read(process)?.since(&before));
    let n_purchases = sale.report.purchases.len().max(1) as f64;
    let each = |who: &str, time: Duration| {
        let what = format!("processor time of {who} for each of these purchases");
        Figure::alone(what, time.as_secs_f64() * 1e3 / n_purchases, "ms")
    };
    let mut figures = vec![
        purchases(&sale),
        Figure::alone("length of that sale", length.as_secs_f64(), "s"),
        each("the server", spent.server),
        each("the generator", spent.generator),
    ];
    if !spent.engines.is_zero() {
        figures.push(each("PostgreSQL and Redis", spent.engines));
    }
    let peak = peak_kb(process)? as f64 / 1e3;
    figures.push(Figure::alone("most memory of the server in that sale", peak, "MB"));
    Ok((figures, sale))
}

pub(super) fn purchases(sale: &Sale) -> Figure {
    let report = &sale.report;
    let what = format!("purchases in a sale with {} fans", report.fans);
    Figure::alone(what, report.purchases_per_second, PER_SECOND)
}

/// The size of an opening.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    /// Fans who arrive in the lobby per second.
    gather_per_second: u32,
    /// Most fans inside at once.
    max_active: u32,
    admit_per_second: u32,
    /// The connections that all fans share.
    connections: usize,
    /// How long the generator waits for an answer. At an opening a crowd comes faster than two
    /// cores can serve both it and the generator.
    patience: Duration,
    /// Whether waiting fans go home when they learn that everything is sold. Otherwise each of them
    /// waits to be admitted and looks at the seats.
    leaves_when_sold_out: bool,
}

const OPENING: Scale = Scale {
    gather_per_second: 1_000,
    max_active: 1_000,
    admit_per_second: 500,
    connections: 512,
    patience: Duration::from_secs(10),
    leaves_when_sold_out: false,
};

const NATIONAL: Scale = Scale {
    gather_per_second: 5_000,
    max_active: 3_000,
    connections: 2_000,
    patience: Duration::from_secs(60),
    leaves_when_sold_out: true,
    ..OPENING
};

impl Scale {
    /// None for profiles that are not an opening.
    pub(super) fn of(profile: Profile) -> Option<Scale> {
        match profile {
            Profile::Opening => Some(OPENING),
            Profile::National => Some(NATIONAL),
            Profile::Sale
            | Profile::Phases
            | Profile::Members
            | Profile::Polls
            | Profile::Growth
            | Profile::OneSeat
            | Profile::Holds
            | Profile::Wallet
            | Profile::Connections
            | Profile::Streams
            | Profile::SeatMap
            | Profile::Attack
            | Profile::Drain
            | Profile::Gates
            | Profile::Grown => None,
        }
    }

    pub(super) fn queue(&self) -> QueueSettings {
        QueueSettings {
            max_active: self.max_active,
            admit_per_second: self.admit_per_second,
            ..QueueSettings::default()
        }
    }

    /// How long fans arrive in the lobby.
    fn gather_for(&self, n_fans: u32) -> Duration {
        Duration::from_secs(u64::from(n_fans.div_ceil(self.gather_per_second)).max(1))
    }

    /// Time between the setup of the stage and the start of the sale.
    pub(super) fn opens_in(&self, n_fans: u32) -> Duration {
        self.gather_for(n_fans) + Duration::from_secs(10)
    }

    pub(super) fn target(&self, mut target: Target) -> Target {
        target.connections_max = self.connections;
        target.request_timeout = self.patience;
        target
    }

    /// Realistic fans: they poll at the given intervals and never shorten a pause.
    pub(super) fn plan(&self, bench: &Bench, schedule: ScheduleId) -> LoadPlan {
        LoadPlan {
            fans: bench.fans,
            seats_per_fan_max: bench.seats_per_fan,
            arrival: Arrival::Over(self.gather_for(bench.fans)),
            abandon_share: bench.abandon,
            card_share: bench.card,
            patience: Duration::from_secs(3_600),
            leaves_when_sold_out: self.leaves_when_sold_out,
            seed: bench.seed,
            ..LoadPlan::for_schedule(schedule)
        }
    }

    /// Prints what the fans' own log shows, and returns whether every guarantee to them holds.
    pub(super) fn judge(&self, report: &Report) -> bool {
        println!("{}", report.places);
        let n_failed = report.ended(Ending::Failed) + report.ended(Ending::TurnedAway);
        let is_kept = report.places.is_kept(self.max_active.into())
            && report.places.numbered == u64::from(report.fans)
            && report.unexpected == 0
            && n_failed == 0;
        if !is_kept {
            println!("a guarantee to the fans was violated: {n_failed} failed, see above");
        }
        is_kept
    }
}
