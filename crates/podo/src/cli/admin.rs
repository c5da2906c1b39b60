//! `podo admin`.

pub(crate) mod dlq;
pub(crate) mod reconcile_day;
pub(crate) mod reconcile_seats;
pub(crate) mod rotate_keys;

use crate::bootstrap;
use crate::cli::admin::dlq::Dlq;
use crate::cli::admin::reconcile_day::Reconcile;
use crate::cli::admin::reconcile_seats::ReconcileSeats;
use crate::config::{self, Config};
use crate::server::admin_account;
use anyhow::{Context, Result, bail};
use clap::Subcommand;
use podo_app::identity::accounts::{SignUp, create_admin, reset_totp};
use podo_domain::identity::{Email, Role};
use std::io::{IsTerminal, Read};
use std::process::ExitCode;

#[derive(Subcommand)]
pub(super) enum Admin {
    /// Create an organiser's account. The password comes from PODO_ADMIN_PASSWORD or standard
    /// input, so that it stays out of the shell history.
    Create {
        #[arg(long)]
        email: String,
        /// Create a read-only organiser.
        #[arg(long)]
        read_only: bool,
    },
    /// Remove the second factor of an account whose owner has lost their device.
    ResetCode {
        #[arg(long)]
        email: String,
    },
    /// Encrypt all personal fields with the current key (`field_secret`). You can stop and resume
    /// it at any time, while nodes that know both keys keep running.
    RotateKeys,
    /// Compare the seat filter with the store, and correct the filter.
    ReconcileSeats(ReconcileSeats),
    /// Compare the gateways' records, our payments and the tickets of a day; exit 1 if they differ.
    Reconcile(Reconcile),
    /// List, show, replay or drop dead letters.
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
        Admin::RotateKeys => rotate_keys::run(config).await,
        Admin::ReconcileSeats(command) => reconcile_seats::run(command, config).await,
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
    let bootstrapped = bootstrap::context(config).await?;
    match create_admin(&bootstrapped.context, asked).await? {
        Some(user) => println!("Created the organiser {user}."),
        None => bail!("an account with this address already exists"),
    }
    Ok(ExitCode::SUCCESS)
}

async fn reset_code(email: String, config: &Config) -> Result<ExitCode> {
    let context = bootstrap::context(config).await?.context;
    let email = Email::try_from(email).context("invalid e-mail address")?;
    let hash = context.keyring.lookup("email", email.as_str());
    let Some(user) = context.store.user_by_email(hash).await? else {
        bail!("no account has this address");
    };
    reset_totp(&context, user.user).await?;
    println!("The next login needs only the password.");
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
