//! An opening as a whole: everybody gathers in the lobby, is drawn, waits, chooses and pays.

use super::Bench;
use domain::ScheduleId;
use domain::queue::QueueSettings;
use load::{Arrival, Ending, Plan, Report};
use std::time::Duration;

/// Fans who gather in one second, on a small machine.
const GATHER_PER_SECOND: u32 = 1_000;

/// Fans inside at once, and let in per second.
pub(super) const MAX_ACTIVE: u32 = 1_000;
const ADMIT_PER_SECOND: u32 = 500;

pub(super) fn queue() -> QueueSettings {
    QueueSettings {
        max_active: MAX_ACTIVE,
        admit_per_second: ADMIT_PER_SECOND,
        ..QueueSettings::default()
    }
}

/// How long fans come to the lobby.
fn gather_for(n_fans: u32) -> Duration {
    Duration::from_secs(u64::from(n_fans.div_ceil(GATHER_PER_SECOND)).max(1))
}

/// When the sale opens, from the moment the stage is set.
pub(super) fn opens_in(n_fans: u32) -> Duration {
    gather_for(n_fans) + Duration::from_secs(10)
}

/// Fans as they are: they ask when they are told to, and nobody cuts the pauses short.
pub(super) fn plan(bench: &Bench, schedule: ScheduleId) -> Plan {
    Plan {
        fans: bench.fans,
        seats_per_fan_max: bench.seats_per_fan,
        arrival: Arrival::Over(gather_for(bench.fans)),
        abandon_share: bench.abandon,
        card_share: bench.card,
        patience: Duration::from_secs(3_600),
        seed: bench.seed,
        ..Plan::for_schedule(schedule)
    }
}

/// Says what the fans' own log shows, and whether every promise to them was kept.
pub(super) fn judge(report: &Report) -> bool {
    println!("{}", report.places);
    let n_failed = report.ended(Ending::Failed) + report.ended(Ending::TurnedAway);
    let is_kept = report.places.is_kept(MAX_ACTIVE.into())
        && report.places.numbered == u64::from(report.fans)
        && report.unexpected == 0
        && n_failed == 0;
    if !is_kept {
        println!("a promise to the fans was broken: {n_failed} failed, see above");
    }
    is_kept
}
