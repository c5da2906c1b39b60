//! `cargo xtask test`: the steps of CI, in order, stopping at the first that fails.

use crate::shell::{command, run as run_command};
use crate::{browser, deny, fuzz, openapi, packages, tidy};
use anyhow::bail;
use std::time::Instant;

struct Step {
    name: &'static str,
    about: &'static str,
    run: fn() -> anyhow::Result<()>,
}

const STEPS: &[Step] = &[
    Step { name: "packages", about: "what the machine needs is there", run: packages::provide },
    Step { name: "fmt", about: "the code is formatted", run: format },
    Step { name: "clippy", about: "the lints are quiet", run: clippy },
    Step { name: "nextest", about: "the tests pass", run: nextest },
    Step { name: "bytes", about: "hostile bytes for a minute each", run: hostile_bytes },
    Step { name: "browser", about: "the pages work in Chromium", run: browser::test },
    Step { name: "doctest", about: "the examples in the docs run", run: doctest },
    Step { name: "doc", about: "the docs build without warnings", run: doc },
    Step { name: "openapi", about: "docs/openapi.json is fresh", run: openapi::check },
    Step { name: "fuzz", about: "made-up requests get proper answers", run: fuzz::check },
    Step { name: "deny", about: "what we build on is welcome", run: deny::check },
    Step { name: "tidy", about: "the tree keeps its shape", run: tidy::check_tree },
];

pub(crate) fn describe() -> String {
    let lines = STEPS.iter().map(|step| format!("  {:9} {}\n", step.name, step.about));
    format!("Steps of `cargo xtask test`:\n{}", lines.collect::<String>())
}

pub(crate) fn run(options: &[&str]) -> anyhow::Result<()> {
    let steps = choose(options)?;
    let n_steps = steps.len();
    for (n_passed, step) in steps.into_iter().enumerate() {
        println!("\n=== {} ({} of {n_steps}): {}", step.name, n_passed + 1, step.about);
        let start = Instant::now();
        let result = (step.run)();
        let seconds = start.elapsed().as_secs_f64();
        if let Err(error) = result {
            println!("\n{n_passed} passed, 1 failed");
            bail!("step `{}` failed after {seconds:.1} s: {error:#}", step.name);
        }
        println!("--- {} passed in {seconds:.1} s", step.name);
    }
    println!("\n{n_steps} passed, 0 failed");
    Ok(())
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
