//! `cargo xtask`: one command for everything that CI runs.
#![expect(clippy::print_stdout, reason = "this is a command line tool; its output is its result")]

mod bench;
mod check;
mod engines;
mod packages;
mod podo;
mod shell;
mod shop;
mod soak;
pub(crate) mod steps;
mod test;
mod tidy;
mod upgrade;

use anyhow::bail;
use bench::Stores;
use std::process::ExitCode;

const HELP: &str = "\
Usage: cargo xtask COMMAND

  check [--base REV]      the quick loop: formatting, lints, and the embedded tests of the packages
                          that differ from HEAD or REV and of all that depend on them
  test [--only STEP]...   run everything that CI runs, or only the named steps
  dist [--profile dist | dev]
                          write a tarball, a Debian package, an SBOM and checksums to target/packages;
                          with dev from the debug binary that is already built
  engines up [--cluster] [--kafka]
                          start PostgreSQL and Redis to try things out, until Ctrl-C; with
                          --cluster Redis is a cluster of six, with --kafka there is a broker too
  bench [--distributed | --kafka] [OPTIONS]
                          run `podo bench OPTIONS` in release mode and compare with a PostgreSQL
                          server that waits for the disk; with --distributed Podo runs on it and on
                          Redis, with --kafka on a broker too
  openapi                 rewrite docs/openapi.json from the code
  configuration           rewrite docs/configuration.md from the manual of the settings
  fuzz [SEED]             send requests that schemathesis generates, from another seed than CI's
  screens                 take screenshots of every page, into target/screens
  soak --hours N [--report docs/reliability.md]
                          run simulation, power cuts, faults and malformed input for N hours, and
                          write the tables of that run
  upgrade --from REF      run the version of REF and this one side by side in a sale, and roll back
  tidy                    check the shape of the tree: layers, file sizes, names
  help                    show this
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> anyhow::Result<()> {
    match arguments {
        [] | ["help" | "-h" | "--help", ..] | [_, "-h" | "--help"] => {
            print!("{HELP}\n{}", test::describe());
            Ok(())
        }
        ["check", options @ ..] => check::run(options),
        ["test", options @ ..] => test::run(options),
        ["dist", options @ ..] => steps::dist::run(options),
        ["engines", "up", options @ ..] => engines::up(engines::Wanted::read(options)?),
        ["bench", "--distributed", options @ ..] => bench::run(Stores::Distributed, options),
        ["bench", "--kafka", options @ ..] => bench::run(Stores::Kafka, options),
        ["bench", options @ ..] => bench::run(Stores::Embedded, options),
        ["openapi"] => steps::openapi::rewrite(),
        ["configuration"] => steps::configuration::rewrite(),
        ["fuzz"] => steps::fuzz::check(),
        ["fuzz", seed] => steps::fuzz::run_from(seed),
        ["soak", options @ ..] => soak::soak(options),
        ["upgrade", "--from", from] => upgrade::check(from),
        ["screens"] => steps::browser::screens(),
        ["tidy"] => tidy::check_tree(),
        [command, ..] => {
            bail!("unknown command or option after `{command}`; see `cargo xtask help`")
        }
    }
}
