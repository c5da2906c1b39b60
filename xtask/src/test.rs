//! `cargo xtask test`: the steps of CI. The first ones one after the other, stopping at the first that
//! fails; then those that leave a processor idle, side by side.

use crate::shell::{command, read_all, run as run_command};
use crate::{browser, deny, fuzz, openapi, packages, tidy};
use anyhow::{Context, bail};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

struct Step {
    name: &'static str,
    about: &'static str,
    lane: Lane,
    run: fn() -> anyhow::Result<()>,
}

/// Beside what a step runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lane {
    /// Nothing: it takes all processors, or the next step needs it.
    Alone,
    /// In its lane, after those before it, with what more urgent lanes leave over.
    Beside { niceness: &'static str },
}

/// Browsers lose patience.
const PAGES: Lane = Lane::Beside { niceness: "0" };
const PAPERS: Lane = Lane::Beside { niceness: "10" };
/// They take whatever they are given.
const BYTES: Lane = Lane::Beside { niceness: "15" };

/// Of the papers, those that build come last: the other lanes wait while something is built.
const STEPS: &[Step] = &[
    Step {
        name: "packages",
        about: "what the machine needs is there",
        lane: Lane::Alone,
        run: packages::provide,
    },
    Step { name: "fmt", about: "the code is formatted", lane: Lane::Alone, run: format },
    Step { name: "clippy", about: "the lints are quiet", lane: Lane::Alone, run: clippy },
    Step { name: "nextest", about: "the tests pass", lane: Lane::Alone, run: nextest },
    Step { name: "browser", about: "the pages work in Chromium", lane: PAGES, run: browser::test },
    Step {
        name: "bytes",
        about: "hostile bytes for a minute each",
        lane: BYTES,
        run: hostile_bytes,
    },
    Step {
        name: "fuzz",
        about: "made-up requests get proper answers",
        lane: PAPERS,
        run: fuzz::check,
    },
    Step { name: "deny", about: "what we build on is welcome", lane: PAPERS, run: deny::check },
    Step { name: "tidy", about: "the tree keeps its shape", lane: PAPERS, run: tidy::check_tree },
    Step {
        name: "openapi",
        about: "docs/openapi.json is fresh",
        lane: PAPERS,
        run: openapi::check,
    },
    Step { name: "doctest", about: "the examples in the docs run", lane: PAPERS, run: doctest },
    Step { name: "doc", about: "the docs build without warnings", lane: PAPERS, run: doc },
];

pub(crate) fn describe() -> String {
    let lines = STEPS.iter().map(|step| format!("  {:9} {}\n", step.name, step.about));
    format!("Steps of `cargo xtask test`:\n{}", lines.collect::<String>())
}

/// All steps, or those that are named, one after the other.
pub(crate) fn run(options: &[&str]) -> anyhow::Result<()> {
    let start = Instant::now();
    let steps = choose(options)?;
    let n_steps = steps.len();
    let (alone, beside): (Vec<_>, Vec<_>) =
        steps.into_iter().partition(|step| !options.is_empty() || step.lane == Lane::Alone);
    for step in alone {
        println!("\n=== {}: {}", step.name, step.about);
        let start = Instant::now();
        let result = (step.run)();
        let seconds = start.elapsed().as_secs_f64();
        if let Err(error) = result {
            bail!("step `{}` failed after {seconds:.1} s: {error:#}", step.name);
        }
        println!("--- {} passed in {seconds:.1} s", step.name);
    }
    let failed = run_lanes(&beside);
    let n_failed = failed.len();
    let minutes = start.elapsed().as_secs_f64() / 60.0;
    println!("\n{} passed, {n_failed} failed, {minutes:.1} minutes", n_steps - n_failed);
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

/// Runs the lanes side by side to their ends, shows what each step wrote when it is over, and names
/// those that failed.
fn run_lanes(steps: &[&'static Step]) -> Vec<&'static str> {
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for lane in [PAGES, PAPERS, BYTES] {
            let failed = &failed;
            let steps = steps.iter().filter(move |step| step.lane == lane);
            scope.spawn(move || {
                for step in steps {
                    let start = Instant::now();
                    let (is_passed, text) = run_apart(step);
                    let seconds = start.elapsed().as_secs_f64();
                    let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                    println!("\n=== {}: {}\n{text}", step.name, step.about);
                    let verdict = if is_passed { "passed" } else { "failed" };
                    println!("--- {} {verdict} in {seconds:.1} s beside the others", step.name);
                    if !is_passed {
                        failed.push(step.name);
                    }
                }
            });
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a step in a process of its own: whether it passed, and what it wrote.
fn run_apart(step: &Step) -> (bool, String) {
    let niceness = match step.lane {
        Lane::Alone => "0",
        Lane::Beside { niceness } => niceness,
    };
    let told = std::env::current_exe().context("where is this program?").and_then(|program| {
        let mut nice = Command::new("nice");
        nice.args(["-n", niceness]).arg(program).args(["test", "--only", step.name]);
        read_all(&mut nice)
    });
    told.unwrap_or_else(|error| (false, format!("{error:#}")))
}

/// The steps named with `--only`, in the order of CI, or all of them.
fn choose(options: &[&str]) -> anyhow::Result<Vec<&'static Step>> {
    let mut names = Vec::new();
    for option in options.chunks(2) {
        match option {
            ["--only", name] if STEPS.iter().any(|step| step.name == *name) => names.push(*name),
            ["--only", name] => bail!("there is no step `{name}`\n\n{}", describe()),
            _ => bail!("`cargo xtask test` takes only `--only STEP`\n\n{}", describe()),
        }
    }
    Ok(STEPS.iter().filter(|step| names.is_empty() || names.contains(&step.name)).collect())
}

fn format() -> anyhow::Result<()> {
    run_command(&mut command("cargo", &["fmt", "--all", "--check"]))
}

fn clippy() -> anyhow::Result<()> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    run_command(&mut command("cargo", &arguments))
}

fn nextest() -> anyhow::Result<()> {
    run_command(&mut command("cargo", &["nextest", "run", "--workspace"]))
}

/// The same tests as among the others, for as long as it takes to find something. All at once: each
/// goes on for its minute, however many share the processors.
fn hostile_bytes() -> anyhow::Result<()> {
    let threads = ["--test-threads", "5"];
    let mut nextest = command("cargo", &["nextest", "run", "--workspace", "-E", "test(/^fuzz::/)"]);
    run_command(nextest.args(threads).env("PODO_FUZZ_SECONDS", "60"))
}

fn doctest() -> anyhow::Result<()> {
    run_command(&mut command("cargo", &["test", "--workspace", "--doc"]))
}

fn doc() -> anyhow::Result<()> {
    // As the tests build it: otherwise the client of Kafka is built a second time.
    let features = ["--features", "adapters/kafka-tls,server/kafka-tls"];
    let mut doc = command("cargo", &["doc", "--workspace", "--no-deps"]);
    doc.args(features);
    run_command(doc.env("RUSTDOCFLAGS", "-D warnings"))
}

#[test]
fn all_steps_run_unless_some_are_named() {
    assert_eq!(choose(&[]).unwrap().len(), STEPS.len());
    let named = choose(&["--only", "tidy", "--only", "fmt"]).unwrap();
    assert_eq!(named.iter().map(|step| step.name).collect::<Vec<_>>(), ["fmt", "tidy"]);
}

#[test]
fn an_unknown_step_or_option_is_refused() {
    for options in [&["--only", "everything"][..], &["--only"], &["--fast", "fmt"]] {
        assert!(choose(options).is_err(), "{options:?}");
    }
}
