//! A whole opening: all fans gather in the lobby, get drawn, wait, choose and pay.

use crate::cli::bench::{Bench, Profile};
use podo_domain::ScheduleId;
use podo_domain::waiting_room::QueueSettings;
use podo_load::{Arrival, Ending, LoadPlan, Report, Target};
use std::time::Duration;

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
