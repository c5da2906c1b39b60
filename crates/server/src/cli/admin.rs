//! `podo admin`.

use super::dlq::{self, Dlq};
use super::reconcile::{self, ReconcileSeats};
use super::reconcile_day::{self, Reconcile};
use super::rotate;
use crate::config::{self, Config};
use crate::running::admin_account;
use crate::wire;
use anyhow::{Context, Result, bail};
use app::accounts::{SignUp, create_admin, reset_totp};
use clap::Subcommand;
use domain::accounts::{Email, Role};
use std::io::{IsTerminal, Read};
use std::process::ExitCode;

#[derive(Subcommand)]
pub(super) enum Admin {
    /// Make an organiser's account. The password comes from PODO_ADMIN_PASSWORD or standard
    /// input, so that it stays out of the shell's history.
    Create {
        #[arg(long)]
        email: String,
        /// May look and not touch.
        #[arg(long)]
        read_only: bool,
    },
    /// Take the second factor from an account whose owner lost their device.
    ResetCode {
        #[arg(long)]
        email: String,
    },
    /// Seal all personal fields with the current key (`field_secret`). It can be stopped and started
    /// again at any time, beside running nodes that know both keys.
    RotateKeys,
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
        Admin::Create { email, read_only } => {
            let role = if read_only { Role::Staff } else { Role::Admin };
            create(&email, role, &config).await
        }
        Admin::ResetCode { email } => reset_code(email, &config).await,
        Admin::RotateKeys => rotate::run(config).await,
        Admin::ReconcileSeats(command) => reconcile::run(command, config).await,
        Admin::Reconcile(command) => reconcile_day::run(command, config).await,
        Admin::Dlq(command) => dlq::run(command, config).await,
    }
}

async fn create(email: &str, role: Role, config: &Config) -> Result<ExitCode> {
    let password = match config::environment("PODO_ADMIN_PASSWORD") {
        Some(password) => password,
        None => read_password()?,
    };
    let asked = SignUp { role, ..admin_account(email, &password)? };
    let wired = wire::platform(config).await?;
    match create_admin(&wired.platform, asked).await? {
        Some(user) => println!("Made the organiser {user}."),
        None => bail!("there is an account with this address already"),
    }
    Ok(ExitCode::SUCCESS)
}

async fn reset_code(email: String, config: &Config) -> Result<ExitCode> {
    let platform = wire::platform(config).await?.platform;
    let email = Email::try_from(email).context("the e-mail address")?;
    let hash = platform.seals.lookup("email", email.as_str());
    let Some(user) = platform.store.user_by_email(hash).await? else {
        bail!("there is no account with this address");
    };
    reset_totp(&platform, user.user).await?;
    println!("Their next log-in needs the password only.");
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
