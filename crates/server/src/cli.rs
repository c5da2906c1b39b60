//! The command line.
#![expect(clippy::print_stdout, reason = "answers to a person's command go to standard output")]

mod admin;
mod backup;
mod bench;
mod demo;
mod dlq;
mod doctor;
mod draw;
mod fans;
mod jobs;
mod migrate;
mod own_server;
mod reconcile;
mod reconcile_day;
mod rehearse;
mod rotate;
mod serve;
mod stage;
mod verify;

use crate::config::{self, Config, Overrides};
use crate::{api, telemetry};
use anyhow::Result;
use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Tickets for concerts that sell out in minutes.
#[derive(Parser)]
#[command(name = "podo", version, arg_required_else_help = true)]
struct Cli {
    /// A settings file; see `podo check-config --manual`.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where the database and the secret key are kept.
    #[arg(long, global = true, value_name = "FOLDER")]
    data: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the server.
    Serve(serve::Serve),
    /// Run the server with a demo arena that opens in 30 seconds, and send simulated fans.
    Demo(demo::Demo),
    /// Check every promise against the store; exit 1 when one is broken.
    Verify(verify::Verify),
    /// Look whether this machine and these settings are fit for a sale; exit 1 when they are not.
    Doctor,
    /// Copy the embedded store and its secret into a new folder, also while the server runs.
    Backup { folder: PathBuf },
    /// Put such a copy where there is no database, and check every promise.
    Restore { folder: PathBuf },
    /// Rehearse a sale: a copy of a date in a sandbox, a crowd, things that go wrong; exit 1 when a
    /// promise was broken.
    Rehearse(rehearse::Rehearse),
    /// Play fans over HTTP and measure.
    Bench(bench::Bench),
    /// Bring the database's schema and roles up to date and exit.
    Migrate(migrate::Migrate),
    /// Show the settings that count, or what is wrong with them.
    CheckConfig {
        /// Print all settings with their explanations and defaults instead.
        #[arg(long)]
        manual: bool,
    },
    /// Print the OpenAPI document.
    Openapi,
    /// Manage organisers, and repair what only an operator should.
    #[command(subcommand)]
    Admin(admin::Admin),
    /// Look at the jobs, or run one now.
    #[command(subcommand)]
    Jobs(jobs::Jobs),
    /// Recompute the draw of a lobby from its published seed.
    VerifyDraw(draw::VerifyDraw),
}

/// Runs the command that was asked for.
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
            println!("{}", api::openapi().to_pretty_json()?);
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn in_runtime(work: impl Future<Output = Result<ExitCode>>) -> Result<ExitCode> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(work)
}

/// Starts the log of a command that runs for a while.
fn start_log(config: &Config) {
    telemetry::start_log(config.log, "info,refinery_core=warn,tokio_postgres=warn");
    if config.limits == config::Switch::Off {
        tracing::warn!("Rate and churn limits are off");
    }
}
