//! The report of a run, as text and as JSON.

pub(crate) mod latencies;
pub(crate) mod stats;

use crate::fan::places::PlaceFindings;
use crate::report::stats::{Ending, Purchase, Sample, Stats, Step};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// One step's answers and latencies, in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepReport {
    pub step: Step,
    pub count: u64,
    pub per_second: f64,
    pub p50_us: u64,
    pub p90_us: u64,
    pub p99_us: u64,
    pub max_us: u64,
}

/// The report of a run. `Display` is a table; `Serialize` gives the same as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    pub fans: u32,
    pub seed: u64,
    /// The length of the sale, without the sign-ups before it.
    pub elapsed_ms: u64,
    /// Calls of the sale, including retries, without sign-ups.
    pub requests: u64,
    pub requests_per_second: f64,
    pub purchases_per_second: f64,
    /// The steps that occurred, in the order of a fan's journey.
    pub steps: Vec<StepReport>,
    pub endings: BTreeMap<Ending, u64>,
    /// Answers other than success, by step, status and code: `select 409 SEAT_TAKEN`.
    pub refusals: BTreeMap<String, u64>,
    /// Unexpected answers: 5xx, none at all, unparsable, unknown codes.
    pub unexpected: u64,
    /// The first few unexpected answers.
    pub samples: Vec<Sample>,
    /// The findings of the fans' own log of their places.
    pub places: PlaceFindings,
    /// Idle connections that the server had closed before their next use.
    pub reconnects: u64,
    /// Every acknowledged purchase, for comparison after a crash.
    pub purchases: Vec<Purchase>,
}

/// The lengths of a run's two parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths {
    pub(crate) sign_ups: Duration,
    pub(crate) sale: Duration,
}

impl Lengths {
    fn seconds_of(self, step: Step) -> f64 {
        let length = if step.is_before_sale() { self.sign_ups } else { self.sale };
        length.as_secs_f64().max(f64::EPSILON)
    }
}

impl Report {
    pub(crate) fn of(stats: &Stats, fans: u32, seed: u64, lengths: Lengths) -> Report {
        let words = stats.words().clone();
        let seconds = lengths.seconds_of(Step::Enter);
        let requests = stats.n_requests.load(Ordering::Relaxed);
        Report {
            fans,
            seed,
            elapsed_ms: u64::try_from(lengths.sale.as_millis()).unwrap_or(u64::MAX),
            requests,
            requests_per_second: requests as f64 / seconds,
            purchases_per_second: words.purchases.len() as f64 / seconds,
            steps: Step::ALL.into_iter().filter_map(|step| of_step(stats, step, lengths)).collect(),
            endings: words.endings,
            refusals: words.refusals,
            unexpected: stats.n_unexpected.load(Ordering::Relaxed),
            samples: words.samples,
            places: PlaceFindings::default(),
            reconnects: 0,
            purchases: words.purchases,
        }
    }

    pub fn ended(&self, ending: Ending) -> u64 {
        self.endings.get(&ending).copied().unwrap_or(0)
    }

    /// A step's figures, if it occurred.
    pub fn step(&self, step: Step) -> Option<&StepReport> {
        self.steps.iter().find(|report| report.step == step)
    }
}

fn of_step(stats: &Stats, step: Step, lengths: Lengths) -> Option<StepReport> {
    let latencies = stats.latencies(step);
    let count = latencies.count();
    (count > 0).then(|| StepReport {
        step,
        count,
        per_second: count as f64 / lengths.seconds_of(step),
        p50_us: latencies.percentile_us(50.0),
        p90_us: latencies.percentile_us(90.0),
        p99_us: latencies.percentile_us(99.0),
        max_us: latencies.max_us(),
    })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} fans in {:.1} s: {} purchases ({:.1}/s), {} requests ({:.0}/s), seed {}",
            self.fans,
            self.elapsed_ms as f64 / 1e3,
            self.purchases.len(),
            self.purchases_per_second,
            self.requests,
            self.requests_per_second,
            self.seed,
        )?;
        writeln!(
            f,
            "\n{:<12}{:>9}{:>10}{:>11}{:>11}{:>11}{:>11}",
            "step", "count", "per s", "p50 ms", "p90 ms", "p99 ms", "max ms"
        )?;
        for step in &self.steps {
            write_step(f, step)?;
        }
        writeln!(f)?;
        for (ending, count) in &self.endings {
            writeln!(f, "{:<32}{count:>9}", ending.as_str())?;
        }
        for (refusal, count) in &self.refusals {
            writeln!(f, "  {refusal:<30}{count:>9}")?;
        }
        self.write_surprises(f)
    }
}

impl Report {
    fn write_surprises(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<32}{:>9}", "unexpected answers", self.unexpected)?;
        for sample in &self.samples {
            let status = sample.status.map_or("no answer".into(), |status| status.to_string());
            writeln!(f, "  {} {status}: {}", sample.step.as_str(), sample.body)?;
        }
        Ok(())
    }
}

fn write_step(f: &mut fmt::Formatter<'_>, step: &StepReport) -> fmt::Result {
    let ms = |us: u64| us as f64 / 1e3;
    writeln!(
        f,
        "{:<12}{:>9}{:>10.1}{:>11.2}{:>11.2}{:>11.2}{:>11.2}",
        step.step.as_str(),
        step.count,
        step.per_second,
        ms(step.p50_us),
        ms(step.p90_us),
        ms(step.p99_us),
        ms(step.max_us),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_an_aligned_table_and_plain_json() {
        let stats = Stats::new();
        for ms in 1..=100 {
            stats.time(Step::Enter, Duration::from_millis(ms));
        }
        stats.time(Step::StartLag, Duration::ZERO);
        stats.refuse(Step::Select, 409, "SEAT_TAKEN");
        stats.surprise(Step::Confirm, Some(503), b"busy");
        stats.end(Ending::LostRace);
        let lengths = Lengths { sign_ups: Duration::ZERO, sale: Duration::from_secs(2) };
        let report = Report::of(&stats, 1, 7, lengths);
        let table = report.to_string();
        assert!(
            table.contains("1 fans in 2.0 s: 0 purchases (0.0/s), 100 requests (50/s), seed 7")
        );
        let step = "enter             100      50.0      50.02      90.05      99.01     100.03";
        assert!(table.contains(step), "{table}");
        assert!(table.contains("select 409 SEAT_TAKEN                 1"), "{table}");
        assert!(table.contains("confirm 503: busy"), "{table}");
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["endings"]["lostRace"], 1);
        assert_eq!(json["steps"][0]["step"], "enter");
    }
}
