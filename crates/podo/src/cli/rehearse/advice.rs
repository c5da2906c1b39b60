//! The recommended admission rate, from this machine's measured throughput.

use podo_domain::waiting_room::QueueSettings;
use podo_load::{Ending, Progress, Report};
use std::fmt;
use std::time::Duration;

/// A machine doesn't sustain its peak for an hour: about a third stays in reserve for what is not
/// rehearsed.
const SHARE: f64 = 0.7;

/// People look at the map, think and pay. Most have finished after this time.
const STAY: Duration = Duration::from_secs(120);

/// A shorter peak is noise.
const WINDOW: Duration = Duration::from_secs(2);

pub(super) struct Advice {
    /// Peak of fans who finished per second.
    served_per_second: f64,
    n_unexpected: u64,
    pub(super) admit_per_second: u32,
    pub(super) max_active: u32,
    now: QueueSettings,
}

impl Advice {
    pub(super) fn of(now: &QueueSettings, report: &Report, course: &[Progress]) -> Advice {
        let served_per_second = best(course).max(mean(report));
        let admit_per_second = (served_per_second * SHARE).floor().clamp(1.0, 100_000.0);
        let max_active = (admit_per_second * STAY.as_secs_f64()).clamp(1.0, 100_000.0);
        Advice {
            served_per_second,
            n_unexpected: report.unexpected,
            admit_per_second: admit_per_second as u32,
            max_active: max_active as u32,
            now: now.clone(),
        }
    }

    /// The date's own settings, with this recommendation applied.
    pub(super) fn settings(&self) -> QueueSettings {
        QueueSettings {
            admit_per_second: self.admit_per_second,
            max_active: self.max_active,
            ..self.now.clone()
        }
    }
}

/// The average over the whole run: short runs have no better peak.
fn mean(report: &Report) -> f64 {
    let n_fans = u64::from(report.fans).saturating_sub(report.ended(Ending::Failed));
    n_fans as f64 / (report.elapsed_ms.max(1) as f64 / 1_000.0)
}

/// The most fans who finished within a window, per second.
fn best(course: &[Progress]) -> f64 {
    let rate = |from: &Progress| {
        let to = course.iter().find(|it| from.elapsed + WINDOW <= it.elapsed)?;
        let seconds = (to.elapsed - from.elapsed).as_secs_f64();
        Some((to.finished - from.finished) as f64 / seconds)
    };
    course.iter().filter_map(rate).fold(0.0, f64::max)
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Advice { served_per_second, admit_per_second, max_active, now, .. } = self;
        writeln!(f, "\nThis machine served {served_per_second:.0} fans per second at its peak.")?;
        if self.n_unexpected > 0 {
            writeln!(f, "{} responses were unexpected: see above.", self.n_unexpected)?;
        }
        writeln!(f, "Configure  admitPerSecond {admit_per_second}, maxActive {max_active}")?;
        write!(
            f,
            "Now        admitPerSecond {}, maxActive {}",
            now.admit_per_second, now.max_active
        )?;
        if *admit_per_second < now.admit_per_second {
            write!(
                f,
                "\nThe date admits more fans than this machine serves: lower the rate, or add nodes."
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64, finished: u64) -> Progress {
        Progress { finished, elapsed: Duration::from_secs(seconds), ..Progress::default() }
    }

    #[test]
    fn the_best_two_seconds_count() {
        let course = [at(0, 0), at(1, 10), at(2, 30), at(3, 130), at(4, 140), at(5, 141)];
        assert_eq!(best(&course), 60.0);
        assert_eq!(best(&course[..2]), 0.0, "too short for a peak");
    }
}
