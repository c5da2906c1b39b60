//! A whole opening: all fans gather in the lobby, get drawn, wait, choose and pay.

use crate::cli::bench::Bench;
use podo_domain::ScheduleId;
use podo_domain::waiting_room::QueueSettings;
use podo_load::{Arrival, Ending, LoadPlan, Report};
use std::time::Duration;

/// Fans who arrive per second, on a small machine.
const GATHER_PER_SECOND: u32 = 1_000;

/// Most fans inside at once, and admissions per second.
pub(super) const MAX_ACTIVE: u32 = 1_000;
const ADMIT_PER_SECOND: u32 = 500;

pub(super) fn queue() -> QueueSettings {
    QueueSettings {
        max_active: MAX_ACTIVE,
        admit_per_second: ADMIT_PER_SECOND,
        ..QueueSettings::default()
    }
}

/// How long fans arrive in the lobby.
fn gather_for(n_fans: u32) -> Duration {
    Duration::from_secs(u64::from(n_fans.div_ceil(GATHER_PER_SECOND)).max(1))
}

/// Time between the setup of the stage and the start of the sale.
pub(super) fn opens_in(n_fans: u32) -> Duration {
    gather_for(n_fans) + Duration::from_secs(10)
}

/// Realistic fans: they poll at the given intervals and never shorten a pause.
pub(super) fn plan(bench: &Bench, schedule: ScheduleId) -> LoadPlan {
    LoadPlan {
        fans: bench.fans,
        seats_per_fan_max: bench.seats_per_fan,
        arrival: Arrival::Over(gather_for(bench.fans)),
        abandon_share: bench.abandon,
        card_share: bench.card,
        patience: Duration::from_secs(3_600),
        seed: bench.seed,
        ..LoadPlan::for_schedule(schedule)
    }
}

/// Prints what the fans' own log shows, and returns whether every guarantee to them holds.
pub(super) fn judge(report: &Report) -> bool {
    println!("{}", report.places);
    let n_failed = report.ended(Ending::Failed) + report.ended(Ending::TurnedAway);
    let is_kept = report.places.is_kept(MAX_ACTIVE.into())
        && report.places.numbered == u64::from(report.fans)
        && report.unexpected == 0
        && n_failed == 0;
    if !is_kept {
        println!("a guarantee to the fans was violated: {n_failed} failed, see above");
    }
    is_kept
}
