//! `cargo xtask test`: the steps of CI, in waves of lanes that run side by side.

use crate::shell::{command, read_all, run as run_command};
use crate::steps::{browser, clients, deny, dist, examples, fuzz, openapi, operations};
use crate::{packages, tidy};
use anyhow::{Context, bail};
use std::process::Command;
use std::time::Instant;

struct Step {
    name: &'static str,
    about: &'static str,
    run: fn() -> anyhow::Result<()>,
}

/// Steps that run one after the other, up to the first that fails.
struct Lane {
    /// Its `nice` value, beside the first lane of its wave.
    niceness: &'static str,
    steps: &'static [Step],
}

const BUILD: Lane = Lane {
    niceness: "0",
    steps: &[
        Step { name: "packages", about: "required programs are installed", run: packages::provide },
        Step { name: "fmt", about: "the code is formatted", run: format },
        Step { name: "clippy", about: "no lint warns", run: clippy },
        Step { name: "build", about: "all tests compile", run: build },
    ],
};

const TESTS: Lane = Lane {
    niceness: "0",
    steps: &[Step { name: "nextest", about: "the tests pass", run: nextest }],
};

/// Uses the time in which the tests wait for a server or a lease.
const DOCS: Lane = Lane {
    niceness: "19",
    steps: &[
        Step { name: "tidy", about: "layers, file sizes, names and words", run: tidy::check_tree },
        Step { name: "openapi", about: "docs/openapi.json matches the code", run: openapi::check },
        Step { name: "doctest", about: "the examples in the docs run", run: doctest },
        Step { name: "doc", about: "the docs build without warnings", run: doc },
        Step {
            name: "deny",
            about: "licences, sources and advisories of dependencies",
            run: deny::check,
        },
    ],
};

/// Browsers have time-outs of their own.
const PAGES: Lane = Lane {
    niceness: "0",
    steps: &[Step { name: "browser", about: "the pages work in Chromium", run: browser::test }],
};

const REQUESTS: Lane = Lane {
    niceness: "10",
    steps: &[
        Step { name: "clients", about: "generated clients buy a ticket", run: clients::check },
        Step {
            name: "examples",
            about: "the other programs in examples/ run",
            run: examples::check,
        },
        Step {
            name: "operations",
            about: "the commands of docs/operations.md work, and nodes may die",
            run: operations::check,
        },
        Step { name: "dist", about: "the program in the packages starts", run: dist::check },
        Step { name: "fuzz", about: "generated requests get documented answers", run: fuzz::check },
    ],
};

/// The version that deploy/ runs; all other tests run on Debian's.
const NEWEST_STORE: Lane = Lane {
    niceness: "10",
    steps: &[Step {
        name: "postgres18",
        about: "the store passes its contract on PostgreSQL 18",
        run: newest_store,
    }],
};

/// Runs for a fixed time, however little of the machine it gets.
const FUZZ_BYTES: Lane = Lane {
    niceness: "15",
    steps: &[Step { name: "bytes", about: "malformed input, a minute each", run: fuzz_bytes }],
};

/// A wave begins when the previous one has passed. The output of its first lane is shown live, that of
/// the others when a step is over.
const WAVES: &[&[Lane]] = &[&[BUILD], &[TESTS, DOCS], &[PAGES, REQUESTS, NEWEST_STORE, FUZZ_BYTES]];

fn all_steps() -> impl Iterator<Item = &'static Step> {
    WAVES.iter().copied().flatten().flat_map(|lane| lane.steps)
}

pub(crate) fn describe() -> String {
    let lines = all_steps().map(|step| format!("  {:11}{}\n", step.name, step.about));
    format!("Steps of `cargo xtask test`:\n{}", lines.collect::<String>())
}

/// All steps, or those that are named, one after the other.
pub(crate) fn run(options: &[&str]) -> anyhow::Result<()> {
    let start = Instant::now();
    let named = choose(options)?;
    let Outcome { n_passed, failed } =
        if options.is_empty() { run_waves() } else { run_steps(named, run_here) };
    let minutes = start.elapsed().as_secs_f64() / 60.0;
    println!("\n{n_passed} passed, {} failed, {minutes:.1} minutes", failed.len());
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    n_passed: usize,
    failed: Vec<&'static str>,
}

impl Outcome {
    fn add(&mut self, other: Outcome) {
        self.n_passed += other.n_passed;
        self.failed.extend(other.failed);
    }
}

fn run_waves() -> Outcome {
    let mut outcome = Outcome::default();
    for wave in WAVES {
        if outcome.failed.is_empty() {
            outcome.add(run_wave(wave));
        }
    }
    outcome
}

fn run_wave(wave: &'static [Lane]) -> Outcome {
    std::thread::scope(|scope| {
        let run_lane = |lane: &'static Lane| {
            scope.spawn(|| run_steps(lane.steps, |step| run_apart(step, lane.niceness)))
        };
        let beside: Vec<_> = wave[1..].iter().map(run_lane).collect();
        let mut outcome = run_steps(wave[0].steps, run_here);
        for lane in beside {
            outcome.add(lane.join().expect("a lane does not panic"));
        }
        outcome
    })
}

/// Runs steps up to the first that fails.
fn run_steps(
    steps: impl IntoIterator<Item = &'static Step>,
    run: impl Fn(&Step) -> bool,
) -> Outcome {
    let mut outcome = Outcome::default();
    for step in steps {
        if !run(step) {
            outcome.failed.push(step.name);
            break;
        }
        outcome.n_passed += 1;
    }
    outcome
}

/// Runs a step and shows what it writes; says whether it passed.
fn run_here(step: &Step) -> bool {
    println!("\n=== {}: {}", step.name, step.about);
    let start = Instant::now();
    let result = (step.run)();
    let seconds = start.elapsed().as_secs_f64();
    match &result {
        Ok(()) => println!("--- {} passed in {seconds:.1} s", step.name),
        Err(error) => println!("--- {} failed after {seconds:.1} s: {error:#}", step.name),
    }
    result.is_ok()
}

/// Runs a step in a process of its own and shows its output when it is over; says whether it passed.
fn run_apart(step: &Step, niceness: &str) -> bool {
    let start = Instant::now();
    let output = std::env::current_exe().context("where is this program?").and_then(|program| {
        let mut nice = Command::new("nice");
        nice.args(["-n", niceness]).arg(program).args(["test", "--only", step.name]);
        read_all(&mut nice)
    });
    let (is_passed, text) = output.unwrap_or_else(|error| (false, format!("{error:#}")));
    let verdict = if is_passed { "passed" } else { "failed" };
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{}\n--- {} {verdict} in {seconds:.1} s beside the others",
        text.trim_end(),
        step.name
    );
    is_passed
}

/// The steps named with `--only`, in the order of CI, or all of them.
fn choose(options: &[&str]) -> anyhow::Result<Vec<&'static Step>> {
    let mut names = Vec::new();
    for option in options.chunks(2) {
        match option {
            ["--only", name] if all_steps().any(|step| step.name == *name) => names.push(*name),
            ["--only", name] => bail!("there is no step `{name}`\n\n{}", describe()),
            _ => bail!("`cargo xtask test` takes only `--only STEP`\n\n{}", describe()),
        }
    }
    Ok(all_steps().filter(|step| names.is_empty() || names.contains(&step.name)).collect())
}

fn format() -> anyhow::Result<()> {
    run_command(&mut command("cargo", &["fmt", "--all", "--check"]))
}

fn clippy() -> anyhow::Result<()> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    run_command(&mut command("cargo", &arguments))
}

fn build() -> anyhow::Result<()> {
    run_command(&mut command("cargo", &["nextest", "run", "--workspace", "--no-run"]))
}

fn nextest() -> anyhow::Result<()> {
    run_command(&mut command("cargo", &["nextest", "run", "--workspace"]))
}

/// The same tests as in `nextest`, but longer. All at once: each runs for its minute, however many
/// share the processors.
fn fuzz_bytes() -> anyhow::Result<()> {
    let threads = ["--test-threads", "6"];
    let tests = "test(/::fuzz::|::hostile_bytes_/)";
    let mut nextest = command("cargo", &["nextest", "run", "--workspace", "-E", tests]);
    run_command(nextest.args(threads).env("PODO_FUZZ_SECONDS", "60"))
}

/// Only the suite of the store. This PostgreSQL is built without TLS and without `auto_explain`.
fn newest_store() -> anyhow::Result<()> {
    let programs = packages::postgres_18()?;
    // As the tests are built: otherwise much is built a second time.
    let suite = ["nextest", "run", "--workspace", "--test", "postgres"];
    let mut nextest = command("cargo", &suite);
    nextest.args(["-E", "not test(/^(tls|plans)::/)"]).env("PODO_TEST_POSTGRES", programs);
    run_command(&mut nextest)
}

fn doctest() -> anyhow::Result<()> {
    run_command(&mut command("cargo", &["test", "--workspace", "--doc"]))
}

fn doc() -> anyhow::Result<()> {
    // As the tests build it: otherwise the client of Kafka is built a second time.
    let features = ["--features", "podo-adapters/kafka-tls,podo/kafka-tls"];
    let mut doc = command("cargo", &["doc", "--workspace", "--no-deps"]);
    doc.args(features);
    run_command(doc.env("RUSTDOCFLAGS", "-D warnings"))
}

#[test]
fn all_steps_run_unless_some_are_named() {
    assert_eq!(choose(&[]).unwrap().len(), all_steps().count());
    let named = choose(&["--only", "tidy", "--only", "fmt"]).unwrap();
    assert_eq!(named.iter().map(|step| step.name).collect::<Vec<_>>(), ["fmt", "tidy"]);
}

#[test]
fn an_unknown_step_or_option_is_refused() {
    for options in [&["--only", "everything"][..], &["--only"], &["--fast", "fmt"]] {
        assert!(choose(options).is_err(), "{options:?}");
    }
}

#[test]
fn a_lane_ends_at_the_first_step_that_fails() {
    let outcome = run_steps(BUILD.steps, |step| step.name != "clippy");
    assert_eq!(outcome, Outcome { n_passed: 2, failed: vec!["clippy"] });
}
