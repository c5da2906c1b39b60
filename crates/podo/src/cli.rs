//! The command line.
#![expect(clippy::print_stdout, reason = "commands print their results to standard output")]

mod admin;
mod backup;
mod bench;
mod demo;
mod doctor;
mod draw;
mod jobs;
mod migrate;
mod rehearse;
mod serve;
mod stage;
mod verify;

use crate::config::{self, Config, Overrides};
use crate::{routes, telemetry};
use anyhow::Result;
use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Tickets for concerts that sell out in minutes.
#[derive(Parser)]
#[command(name = "podo", version, arg_required_else_help = true)]
struct Cli {
    /// Read settings from this file; see `podo check-config --manual`.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Folder of the database and the secret key.
    #[arg(long, global = true, value_name = "FOLDER")]
    data: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the server.
    Serve(serve::Serve),
    /// Run the server with a demo arena that goes on sale in 30 seconds, and send simulated fans.
    Demo(demo::Demo),
    /// Check every invariant against the store; exit 1 if one is violated.
    Verify(verify::Verify),
    /// Check whether this machine and these settings are ready for a sale; exit 1 if they aren't.
    Doctor,
    /// Copy the embedded store and its secret into a new folder; the server may keep running.
    Backup { folder: PathBuf },
    /// Restore a backup into an empty data folder, and check every invariant.
    Restore { folder: PathBuf },
    /// Rehearse a sale with a copy of a date in a sandbox, a simulated crowd and injected failures;
    /// exit 1 if an invariant is violated.
    Rehearse(rehearse::Rehearse),
    /// Simulate fans over HTTP and measure.
    Bench(bench::Bench),
    /// Bring the database schema and roles up to date, and exit.
    Migrate(migrate::Migrate),
    /// Show the effective settings, or report what is wrong with them.
    CheckConfig {
        /// Print all settings with their explanations and defaults instead.
        #[arg(long)]
        manual: bool,
    },
    /// Print the OpenAPI document.
    Openapi,
    /// Manage organisers and run an operator's repairs.
    #[command(subcommand)]
    Admin(admin::Admin),
    /// List the jobs, or run one now.
    #[command(subcommand)]
    Jobs(jobs::Jobs),
    /// Recompute a lobby's draw from its published seed.
    VerifyDraw(draw::VerifyDraw),
}

/// Runs the command on the command line.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    match start(cli) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("podo: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn start(cli: Cli) -> Result<ExitCode> {
    let mut overrides = Overrides { file: cli.config, data: cli.data, ..Overrides::default() };
    if let Command::Serve(serve) = &cli.command {
        overrides.listen = serve.listen.clone();
        overrides.roles = serve.roles.clone();
    }
    let load = || Config::load(&overrides, config::environment);
    match cli.command {
        Command::Serve(_) => in_runtime(serve::run(load()?)),
        Command::Demo(demo) => in_runtime(demo::run(demo, load()?)),
        Command::Verify(verify) => in_runtime(verify::run(verify, load()?)),
        Command::Doctor => in_runtime(async { doctor::run(&load()?).await }),
        Command::Backup { folder } => backup::back_up(&folder, &load()?),
        Command::Restore { folder } => {
            in_runtime(async { backup::restore(&folder, &load()?).await })
        }
        Command::Rehearse(rehearse) => in_runtime(rehearse::run(rehearse, load()?)),
        Command::Bench(bench) => in_runtime(bench::run(bench, load()?)),
        Command::Admin(command) => in_runtime(admin::run(command, load()?)),
        Command::Jobs(command) => in_runtime(jobs::run(command, load()?)),
        Command::VerifyDraw(draw) => draw::run(&draw),
        Command::Migrate(migrate) => in_runtime(migrate::run(migrate, load()?)),
        Command::CheckConfig { manual } => {
            let text =
                if manual { config::DEFAULT.to_owned() } else { load()?.describe().to_owned() };
            println!("{text}");
            Ok(ExitCode::SUCCESS)
        }
        Command::Openapi => {
            println!("{}", routes::openapi().to_pretty_json()?);
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn in_runtime(work: impl Future<Output = Result<ExitCode>>) -> Result<ExitCode> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(work)
}

/// Starts the log for a long-running command.
fn start_log(config: &Config) {
    telemetry::start_log(config.log, "info,refinery_core=warn,tokio_postgres=warn");
    if config.limits == config::Switch::Off {
        tracing::warn!("Rate and churn limits are off");
    }
    for warning in &config.deprecated {
        tracing::warn!("{warning}");
    }
}
