//! `cargo xtask soak`: the proofs for as long as there is time, and the table of that run.

use crate::packages;
use crate::shell::{command, read, root, run};
use anyhow::{Context, bail};
use std::fmt::Write;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Seeds of the first round of the simulation, and of every later one.
const SEEDS_FIRST: u64 = 2_000;
const SEEDS: u64 = 5_000;

const TABLE_BEGIN: &str = "<!-- cargo xtask soak --report -->";
const TABLE_END: &str = "<!-- end of the report -->";

/// What is run besides the simulation.
struct Part {
    what: &'static str,
    tests: &'static str,
    /// A switch that makes later rounds longer.
    longer: Option<(&'static str, &'static str)>,
}

const PARTS: [Part; 5] = [
    Part {
        what: "seeded sales on PostgreSQL and Redis",
        tests: "binary(seeds)",
        longer: Some(("PODO_SEEDS", "1000")),
    },
    Part {
        what: "power cuts at every point and at random",
        tests: "test(power_cuts) or test(nodes_die)",
        longer: Some(("PODO_KILL_CYCLES", "100")),
    },
    Part {
        what: "failing engines, networks, disks and clocks",
        tests: "test(/^faults::/) or \
                test(/::(disk|clock|pg_notify|verify_live|bad_items|called_off)::/)",
        longer: None,
    },
    Part {
        what: "properties on new random cases",
        tests: "kind(lib) and (package(podo-domain) or package(podo-app) or package(podo-adapters))",
        longer: Some(("PROPTEST_CASES", "5000")),
    },
    Part {
        what: "hostile bytes",
        tests: "test(/::fuzz::/)",
        longer: Some(("PODO_FUZZ_SECONDS", "60")),
    },
];

pub(crate) fn soak(options: &[&str]) -> anyhow::Result<()> {
    let (hours, file) = match options {
        ["--hours", hours] => (hours, None),
        ["--hours", hours, "--report", file] => (hours, Some(*file)),
        _ => bail!("use `cargo xtask soak --hours N [--report docs/reliability.md]`"),
    };
    let hours: f64 = hours.parse().with_context(|| format!("`{hours}` is no number"))?;
    packages::provide()?;
    let mut table = soak_for(Duration::from_secs_f64(hours * 3_600.0))?;
    if let Some(file) = file {
        table.push_str("\n| guard taken away | caught as | first seed |\n|---|---|---|\n");
        table.push_str(&read(&mut sim(&["--seeds", "0..5000", "--mutation", "all"]))?);
        let path = root().join(file);
        let text = std::fs::read_to_string(&path).with_context(|| file.to_owned())?;
        std::fs::write(&path, replaced(&text, table.trim_end())?)?;
        println!("wrote the tables into {}", path.display());
    }
    Ok(())
}

/// Runs rounds until the time is over and returns the table. Each round simulates new seeds. The
/// first round is always complete; a later one ends with the part in which the time runs out.
fn soak_for(length: Duration) -> anyhow::Result<String> {
    let start = Instant::now();
    let mut simulated = Simulated::default();
    let mut parts = PARTS.map(|_| (0, Duration::ZERO));
    let mut n_rounds = 0;
    let is_over = |n_rounds| n_rounds > 0 && start.elapsed() >= length;
    while !is_over(n_rounds) {
        let seeds = match n_rounds {
            0 => 0..SEEDS_FIRST,
            n => 1_000_000 + n * SEEDS..1_000_000 + (n + 1) * SEEDS,
        };
        simulated.run(&format!("{}..{}", seeds.start, seeds.end))?;
        for (part, (n_tests, took)) in PARTS.iter().zip(&mut parts) {
            if is_over(n_rounds) {
                break;
            }
            let start = Instant::now();
            *n_tests += nextest(part.tests, part.longer.filter(|_| n_rounds > 0))?;
            *took += start.elapsed();
        }
        n_rounds += 1;
        println!("=== round {n_rounds} is done after {:.2} h", hours(start.elapsed()));
    }
    let commit = read(&mut command("git", &["rev-parse", "--short", "HEAD"]))?;
    let mut table = format!(
        "\nCommit {}: {n_rounds} round(s), {:.2} hours.\n\n\
         | what | how much | took |\n|---|---|---|\n",
        commit.trim(),
        hours(start.elapsed())
    );
    simulated.write(&mut table)?;
    for (Part { what, .. }, (n_tests, took)) in PARTS.iter().zip(parts) {
        writeln!(table, "| {what} | {n_tests} tests passed | {:.0} s |", took.as_secs_f64())?;
    }
    Ok(table)
}

fn hours(length: Duration) -> f64 {
    length.as_secs_f64() / 3_600.0
}

/// What the simulation saw in all rounds.
#[derive(Default)]
struct Simulated {
    /// Seeds, steps and violations.
    numbers: [u64; 3],
    /// Of the first round.
    n_sights: usize,
    n_unseen: usize,
    took: Duration,
}

impl Simulated {
    fn run(&mut self, seeds: &str) -> anyhow::Result<()> {
        let start = Instant::now();
        let text = read(&mut sim(&["--seeds", seeds]))?;
        self.took += start.elapsed();
        let sum = text.lines().last().unwrap_or_default();
        println!("{sum}");
        let mut numbers = sum.split(' ').filter_map(|word| word.parse::<u64>().ok());
        for number in &mut self.numbers {
            *number += numbers.next().with_context(|| format!("`{sum}` has too few numbers"))?;
        }
        if self.n_sights == 0 {
            let sights: Vec<&str> = text.lines().filter(|line| line.starts_with(' ')).collect();
            let is_unseen = |line: &&&str| line.trim_start().starts_with("0 ");
            self.n_unseen = sights.iter().filter(is_unseen).count();
            self.n_sights = sights.len();
        }
        Ok(())
    }

    fn write(&self, table: &mut String) -> anyhow::Result<()> {
        let [seeds, steps, violations] = self.numbers;
        let took = self.took.as_secs_f64();
        writeln!(
            table,
            "| simulation | {seeds} seeds, {steps} steps, {violations} violations | {took:.0} s |"
        )?;
        let (n_seen, n_all) = (self.n_sights - self.n_unseen, self.n_sights);
        writeln!(
            table,
            "| rare moments seen by the first {SEEDS_FIRST} | {n_seen} of {n_all} | |"
        )?;
        Ok(())
    }
}

/// Says how many tests passed.
fn nextest(filter: &str, longer: Option<(&str, &str)>) -> anyhow::Result<u64> {
    let count = ["nextest", "list", "--workspace", "--message-format", "oneline", "-E", filter];
    let n_tests = read(&mut command("cargo", &count))?.lines().count() as u64;
    // A test of many cycles takes as long as it takes.
    let arguments = ["nextest", "run", "--workspace", "--profile", "soak", "-E", filter];
    #[expect(clippy::disallowed_methods, reason = "any number will do that was not used before")]
    let seed = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs().to_string();
    run(command("cargo", &arguments).env("PROPTEST_RNG_SEED", seed).envs(longer))?;
    Ok(n_tests)
}

fn sim(arguments: &[&str]) -> std::process::Command {
    let mut sim = command("cargo", &["run", "--release", "--quiet", "-p", "podo-sim", "--"]);
    sim.args(arguments);
    sim
}

/// The text with another table between the marks.
fn replaced(text: &str, table: &str) -> anyhow::Result<String> {
    let (before, rest) = text.split_once(TABLE_BEGIN).context("no mark for the table")?;
    let (_, after) = rest.split_once(TABLE_END).context("no mark for the table's end")?;
    Ok(format!("{before}{TABLE_BEGIN}\n{table}\n\n{TABLE_END}{after}"))
}

#[test]
fn only_the_table_is_replaced() {
    let text = format!("before\n{TABLE_BEGIN}\nold\n{TABLE_END}\nafter\n");
    let new = replaced(&text, "new").unwrap();
    assert_eq!(new, format!("before\n{TABLE_BEGIN}\nnew\n\n{TABLE_END}\nafter\n"));
    assert!(replaced("no marks", "new").is_err());
}

#[test]
fn hours_and_a_file_are_all_that_it_takes() {
    for options in [&["--report"][..], &["--hours"], &["--hours", "many"], &["--for", "1"]] {
        assert!(soak(options).is_err(), "{options:?}");
    }
}
