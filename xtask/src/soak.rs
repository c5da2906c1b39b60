//! `cargo xtask soak`: the proofs for as long as there is time, and the table of the last run.

use crate::shell::{command, read, root, run};
use anyhow::{Context, bail};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Seeds of one round of the simulation.
const SEEDS: u64 = 20_000;

const TABLE_BEGIN: &str = "<!-- cargo xtask soak --report -->";
const TABLE_END: &str = "<!-- end of the report -->";

pub(crate) fn soak(options: &[&str]) -> anyhow::Result<()> {
    match options {
        ["--hours", hours] => {
            let hours: f64 = hours.parse().with_context(|| format!("`{hours}` is no number"))?;
            soak_for(Duration::from_secs_f64(hours * 3_600.0))
        }
        ["--report"] => report(),
        _ => bail!("use `cargo xtask soak --hours N` or `cargo xtask soak --report`"),
    }
}

/// Rounds until the time is over; each has seeds that no round had before.
fn soak_for(length: Duration) -> anyhow::Result<()> {
    let start = Instant::now();
    let mut round = 0;
    while round == 0 || start.elapsed() < length {
        let from = 1_000_000 + round * SEEDS;
        simulate(&format!("{from}..{}", from + SEEDS))?;
        nextest("test(power_cuts) or test(nodes_die)", ("PODO_KILL_CYCLES", "500"))?;
        nextest("test(/^fuzz::/)", ("PODO_FUZZ_SECONDS", "60"))?;
        nextest("test(/^(faults|lines|disk|clock|live|bus)::/)", ("PODO_SOAK", "1"))?;
        round += 1;
        println!(
            "=== round {round} is done after {:.1} h",
            start.elapsed().as_secs_f64() / 3_600.0
        );
    }
    Ok(())
}

fn simulate(seeds: &str) -> anyhow::Result<()> {
    run(&mut command("cargo", &["run", "--release", "-p", "sim", "--", "--seeds", seeds]))
}

fn nextest(filter: &str, (name, value): (&str, &str)) -> anyhow::Result<()> {
    // A test of many cycles takes as long as it takes.
    let arguments = ["nextest", "run", "-p", "server", "--profile", "soak", "-E", filter];
    run(command("cargo", &arguments).env(name, value))
}

/// Measures and writes the table into docs/reliability.md.
fn report() -> anyhow::Result<()> {
    let path = root().join("docs/reliability.md");
    let text = std::fs::read_to_string(&path).context("docs/reliability.md")?;
    let table = measure()?;
    std::fs::write(&path, replaced(&text, &table)?)?;
    println!("wrote the table into {}", path.display());
    Ok(())
}

fn measure() -> anyhow::Result<String> {
    let mut table = String::from("\n| what | how much | took |\n|---|---|---|\n");
    let start = Instant::now();
    let simulated = read(&mut sim(&["--seeds", "0..2000"]))?;
    let sum = simulated.lines().last().unwrap_or_default();
    writeln!(table, "| simulation | {sum} | {:.0} s |", start.elapsed().as_secs_f64())?;
    let is_sight = |line: &&str| line.starts_with(' ');
    let n_sights = simulated.lines().filter(is_sight).count();
    let is_unseen = |line: &&str| line.trim_start().starts_with("0 ");
    let n_unseen = simulated.lines().filter(is_unseen).count();
    writeln!(table, "| rare moments seen | {} of {n_sights} | |", n_sights - n_unseen)?;
    for (what, filter) in [
        ("power cuts", "test(power_cuts) or test(nodes_die)"),
        ("engines and lines that fail", "test(/^(faults|lines|disk|clock|live|bus)::/)"),
        ("hostile bytes", "test(/^fuzz::/)"),
    ] {
        let start = Instant::now();
        nextest(filter, ("PODO_SOAK", "0"))?;
        writeln!(table, "| {what} | all pass | {:.0} s |", start.elapsed().as_secs_f64())?;
    }
    writeln!(table, "\n| guard taken away | caught as | first seed |\n|---|---|---|")?;
    table.push_str(&read(&mut sim(&["--seeds", "0..5000", "--mutation", "all"]))?);
    Ok(table.trim_end().to_owned())
}

/// As the tests build it.
fn sim(arguments: &[&str]) -> std::process::Command {
    let mut sim = command("cargo", &["run", "--quiet", "-p", "sim", "--"]);
    sim.args(arguments);
    sim
}

/// The text with another table between the marks.
fn replaced(text: &str, table: &str) -> anyhow::Result<String> {
    let (before, rest) = text.split_once(TABLE_BEGIN).context("no mark for the table")?;
    let (_, after) = rest.split_once(TABLE_END).context("no mark for the table's end")?;
    Ok(format!("{before}{TABLE_BEGIN}\n{table}\n{TABLE_END}{after}"))
}

#[test]
fn only_the_table_is_replaced() {
    let text = format!("before\n{TABLE_BEGIN}\nold\n{TABLE_END}\nafter\n");
    let new = replaced(&text, "new").unwrap();
    assert_eq!(new, format!("before\n{TABLE_BEGIN}\nnew\n{TABLE_END}\nafter\n"));
    assert!(replaced("no marks", "new").is_err());
}
