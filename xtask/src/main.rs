//! `cargo xtask`: one command for everything that CI runs.
#![expect(clippy::print_stdout, reason = "this is a command line tool; its output is its result")]

mod bench;
mod browser;
mod clients;
mod configuration;
mod deny;
mod engines;
mod fuzz;
mod openapi;
mod operations;
mod packages;
mod podo;
mod shell;
mod soak;
mod test;
mod tidy;
mod upgrade;

use anyhow::bail;
use bench::Stores;
use std::process::ExitCode;

const HELP: &str = "\
Usage: cargo xtask COMMAND

  test [--only STEP]...   run everything that CI runs, or only the named steps
  engines up [--cluster] [--kafka]
                          start PostgreSQL and Redis for trying things out, until Ctrl-C;
                          with --cluster Redis is a cluster of six, with --kafka there is a
                          broker besides
  bench [--distributed | --kafka] [OPTIONS]
                          run `podo bench OPTIONS` in release beside a PostgreSQL server that
                          waits for the disk; with --distributed on it and on Redis, with
                          --kafka on a broker besides
  openapi                 rewrite docs/openapi.json from the code
  configuration           rewrite docs/configuration.md from the manual of the settings
  fuzz [SEED]             let schemathesis make up requests, from another seed than CI's
  screens                 pictures of every page, into target/screens
  soak --hours N [--report docs/reliability.md]
                          simulation, power cuts, faults and hostile bytes for so long, and the
                          tables of that run
  upgrade --from REF      sell with the program of REF and with this one side by side, and back
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
        ["test", options @ ..] => test::run(options),
        ["engines", "up", options @ ..] => engines::up(engines::Wanted::read(options)?),
        ["bench", "--distributed", options @ ..] => bench::run(Stores::Distributed, options),
        ["bench", "--kafka", options @ ..] => bench::run(Stores::Kafka, options),
        ["bench", options @ ..] => bench::run(Stores::Embedded, options),
        ["openapi"] => openapi::rewrite(),
        ["configuration"] => configuration::rewrite(),
        ["fuzz"] => fuzz::check(),
        ["fuzz", seed] => fuzz::run_from(seed),
        ["soak", options @ ..] => soak::soak(options),
        ["upgrade", "--from", from] => upgrade::check(from),
        ["screens"] => browser::screens(),
        ["tidy"] => tidy::check_tree(),
        [command, ..] => {
            bail!("unknown command or option after `{command}`; see `cargo xtask help`")
        }
    }
}
