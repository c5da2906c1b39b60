//! How fast fans should be let in, from what this machine was seen to do.

use domain::queue::QueueSettings;
use load::{Ending, Progress, Report};
use std::fmt;
use std::time::Duration;

/// What a machine does at its best it does not do for an hour: a third is left for what is not
/// rehearsed.
const SHARE: f64 = 0.7;

/// People look at the map, think and pay. Most are done after this long.
const STAY: Duration = Duration::from_secs(120);

/// A best moment that is shorter than this is luck.
const WINDOW: Duration = Duration::from_secs(2);

pub(super) struct Advice {
    /// Fans who were done per second, at best.
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

    /// The date's own settings with this advice followed.
    pub(super) fn settings(&self) -> QueueSettings {
        QueueSettings {
            admit_per_second: self.admit_per_second,
            max_active: self.max_active,
            ..self.now.clone()
        }
    }
}

/// Everybody over the whole time: short runs have no better moment.
fn mean(report: &Report) -> f64 {
    let n_fans = u64::from(report.fans).saturating_sub(report.ended(Ending::Failed));
    n_fans as f64 / (report.elapsed_ms.max(1) as f64 / 1_000.0)
}

/// Most fans who were done within a window, per second.
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
        writeln!(f, "\nThis machine served {served_per_second:.0} fans a second at its best.")?;
        if self.n_unexpected > 0 {
            writeln!(f, "{} answers were not as they should be: look above.", self.n_unexpected)?;
        }
        writeln!(f, "Configure  admitPerSecond {admit_per_second}, maxActive {max_active}")?;
        write!(
            f,
            "Now        admitPerSecond {}, maxActive {}",
            now.admit_per_second, now.max_active
        )?;
        if *admit_per_second < now.admit_per_second {
            write!(f, "\nThe date lets in more than this machine serves: lower it, or add nodes.")?;
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
        assert_eq!(best(&course[..2]), 0.0, "too short to say");
    }
}
