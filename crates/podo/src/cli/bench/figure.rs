//! One figure of a benchmark, and its yardsticks.

pub(super) mod page;
pub(super) mod table;

use anyhow::{Context, Result};
use serde::Serialize;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Figure {
    pub(super) what: String,
    pub(super) value: f64,
    pub(super) unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) times: Option<Times>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost: Option<Cost>,
    pub(super) beside: Vec<Beside>,
}

/// The server's CPU cost of one response.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Cost {
    pub(super) each: f64,
    pub(super) unit: &'static str,
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", number(self.each), self.unit)
    }
}

/// Latencies in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Times {
    pub(super) p50_us: u64,
    pub(super) p99_us: u64,
}

impl Times {
    pub(super) fn of(latencies: &podo_load::Latencies) -> Option<Times> {
        (latencies.count() > 0).then(|| Times {
            p50_us: latencies.percentile_us(50.0),
            p99_us: latencies.percentile_us(99.0),
        })
    }
}

/// A yardstick measured in the same run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Beside {
    pub(super) what: String,
    pub(super) value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) times: Option<Times>,
}

impl Figure {
    /// A figure without a yardstick.
    pub(super) fn alone(what: impl Into<String>, value: f64, unit: &'static str) -> Figure {
        let (times, cost) = (None, None);
        Figure { what: what.into(), value, unit, times, cost, beside: Vec::new() }
    }

    /// Adds a yardstick.
    pub(super) fn beside(mut self, what: impl Into<String>, value: f64) -> Figure {
        self.beside.push(Beside { what: what.into(), value, times: None });
        self
    }

    /// Our value relative to the yardstick's.
    pub(super) fn ratio_to(&self, beside: &Beside) -> f64 {
        self.value / beside.value
    }
}

/// Fewer decimals for larger values.
pub(super) fn number(value: f64) -> String {
    match value {
        large if large >= 100.0 => format!("{large:.0}"),
        middle if middle >= 1.0 => format!("{middle:.1}"),
        small => format!("{small:.3}"),
    }
}

fn ms(times: Option<Times>, read: impl Fn(Times) -> u64) -> String {
    times.map_or(String::new(), |times| format!("{:.2}", read(times) as f64 / 1e3))
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, ours) = (self.unit, "ratio to yardstick");
        writeln!(f, "{:<40}{unit:>12}{:>10}{:>10}{ours:>22}", "", "p50 ms", "p99 ms")?;
        let line = |f: &mut fmt::Formatter<'_>, what: &str, value: f64, times, ratio: &str| {
            let (p50, p99) = (ms(times, |it| it.p50_us), ms(times, |it| it.p99_us));
            writeln!(f, "{what:<40}{:>12}{p50:>10}{p99:>10}{ratio:>22}", number(value))
        };
        let cost = self.cost.map_or(String::new(), |cost| format!("costs {cost}"));
        line(f, &self.what, self.value, self.times, &cost)?;
        for beside in &self.beside {
            let ratio = format!("{:.2}", self.ratio_to(beside));
            line(f, &beside.what, beside.value, beside.times, &ratio)?;
        }
        Ok(())
    }
}

/// The figures as a Markdown table.
pub(super) fn markdown(figures: &[Figure]) -> String {
    let mut text = String::from(
        "| | | p50 ms | p99 ms | processor | × yardstick |\n|---|---|---|---|---|---|\n",
    );
    for figure in figures {
        let ratios: Vec<String> = figure
            .beside
            .iter()
            .map(|it| format!("{:.2} × {} ({})", figure.ratio_to(it), it.what, number(it.value)))
            .collect();
        let (value, unit) = (number(figure.value), figure.unit);
        let (p50, p99) = (ms(figure.times, |it| it.p50_us), ms(figure.times, |it| it.p99_us));
        let (what, ratios) = (&figure.what, ratios.join(", "));
        let cost = figure.cost.map_or(String::new(), |cost| cost.to_string());
        text.push_str(&format!(
            "| {what} | {value} {unit} | {p50} | {p99} | {cost} | {ratios} |\n"
        ));
    }
    text
}

const TABLE_END: &str = "<!-- end of the table -->";

/// The page with a new table between the two comments of this title, below a sentence about the
/// machine.
pub(super) fn with_table(page: &str, title: &str, figures: &[Figure]) -> Result<String> {
    let begin = format!("<!-- podo bench: {title} -->");
    let place = page.split_once(&begin);
    let (before, rest) = place.with_context(|| format!("the page has no comment `{begin}`"))?;
    let end = rest.split_once(TABLE_END);
    let (_, after) = end.with_context(|| format!("`{begin}` has no `{TABLE_END}`"))?;
    let table = markdown(figures);
    Ok(format!("{before}{begin}\n\n{}\n\n{table}\n{TABLE_END}{after}", machine()))
}

/// What the figures were measured on.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        let value = line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim());
        value.unwrap_or("unknown").to_owned()
    };
    let n_cores = std::thread::available_parallelism().map_or(0, usize::from);
    let processor = field(&read("/proc/cpuinfo"), "model name");
    let memory = field(&read("/proc/meminfo"), "MemTotal");
    let memory = memory.trim_end_matches(" kB").parse::<u64>().map_or(0, |kb| kb / 1_048_576);
    let kernel = read("/proc/sys/kernel/osrelease");
    format!(
        "{n_cores} cores of {processor}, {memory} GiB of memory, Linux {}, Podo {} ({} build).",
        kernel.trim(),
        env!("CARGO_PKG_VERSION"),
        if cfg!(debug_assertions) { "debug" } else { "optimized" },
    )
}

#[test]
fn a_table_replaces_the_one_before_and_nothing_else() {
    let page = format!("# A\n<!-- podo bench: embedded -->\nold\n{TABLE_END}\nmore\n");
    let new = with_table(&page, "embedded", &[Figure::alone("binary", 48.25, "MB")]).unwrap();
    assert!(new.starts_with("# A\n") && new.ends_with("\nmore\n") && !new.contains("old"));
    assert!(new.contains("| binary | 48.2 MB |"), "{new}");
    assert!(with_table(&page, "PostgreSQL and Redis", &[]).is_err());
    assert!(with_table("# A", "embedded", &[]).is_err());
}

#[test]
fn a_figure_is_shown_as_a_ratio_to_its_yardsticks() {
    let times = Some(Times { p50_us: 1_500, p99_us: 20_000 });
    let beside = vec![Beside { what: "hello".into(), value: 80_000.0, times }];
    let cost = Some(Cost { each: 7.25, unit: "µs" });
    let (what, unit) = ("polls".into(), "per s");
    let figure = Figure { what, value: 60_000.0, unit, times, cost, beside };
    assert!(figure.to_string().contains("0.75"), "{figure}");
    let table = markdown(&[figure, Figure::alone("binary", 48.25, "MB")]);
    assert!(
        table.contains("| polls | 60000 per s | 1.50 | 20.00 | 7.2 µs | 0.75 × hello (80000) |")
    );
    assert!(table.contains("| binary | 48.2 MB |  |  |  |  |"), "{table}");
}
