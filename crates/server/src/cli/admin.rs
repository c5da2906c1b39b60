//! `podo admin`.

use super::dlq::{self, Dlq};
use super::reconcile::{self, ReconcileSeats};
use super::reconcile_day::{self, Reconcile};
use crate::config::{self, Config};
use crate::running::admin_account;
use crate::wire;
use anyhow::{Context, Result, bail};
use app::accounts::create_admin;
use clap::Subcommand;
use std::io::{IsTerminal, Read};
use std::process::ExitCode;

#[derive(Subcommand)]
pub(super) enum Admin {
    /// Make an organiser's account. The password comes from PODO_ADMIN_PASSWORD or standard
    /// input, so that it stays out of the shell's history.
    Create {
        #[arg(long)]
        email: String,
    },
    /// Compare the filter in front of the seats with the store, and correct the filter.
    ReconcileSeats(ReconcileSeats),
    /// Compare the gateways' books, our payments and the tickets of a day; exit 1 when they differ.
    Reconcile(Reconcile),
    /// Look at messages that were given up, try them again, or drop them.
    #[command(subcommand)]
    Dlq(Dlq),
}

pub(super) async fn run(command: Admin, config: Config) -> Result<ExitCode> {
    match command {
        Admin::Create { email } => create(&email, &config).await,
        Admin::ReconcileSeats(command) => reconcile::run(command, config).await,
        Admin::Reconcile(command) => reconcile_day::run(command, config).await,
        Admin::Dlq(command) => dlq::run(command, config).await,
    }
}

async fn create(email: &str, config: &Config) -> Result<ExitCode> {
    let password = match config::environment("PODO_ADMIN_PASSWORD") {
        Some(password) => password,
        None => read_password()?,
    };
    let asked = admin_account(email, &password)?;
    let wired = wire::platform(config).await?;
    match create_admin(&wired.platform, asked).await? {
        Some(user) => println!("Made the organiser {user}."),
        None => bail!("there is an account with this address already"),
    }
    Ok(ExitCode::SUCCESS)
}

fn read_password() -> Result<String> {
    let mut input = std::io::stdin();
    if input.is_terminal() {
        eprintln!("Password (then Ctrl-D):");
    }
    let mut password = String::new();
    input.read_to_string(&mut password).context("cannot read the password")?;
    Ok(password.trim_end_matches(['\r', '\n']).to_owned())
}
