//! `podo admin dlq`: dead letters.

use crate::bootstrap;
use crate::config::Config;
use anyhow::{Context, Result};
use clap::Subcommand;
use podo_app::AppContext;
use podo_app::messaging::port::dead_letters::{DeadLetterStatus, DeadLetterVerb};
use podo_app::store::PageRequest;
use podo_domain::{DeadLetterId, UserId};
use std::process::ExitCode;
use uuid::Uuid;

#[derive(Subcommand)]
pub(crate) enum Dlq {
    /// List open dead letters.
    List {
        /// Include replayed and dropped ones.
        #[arg(long)]
        all: bool,
        #[arg(long, default_value_t = 50, value_name = "ROWS")]
        limit: u32,
    },
    /// Show a dead letter with its whole message.
    Show { id: DeadLetterId },
    /// Retry: a node with the role `worker` picks it up within a second or two.
    Replay(Which),
    /// Discard for good.
    Drop(Which),
}

#[derive(clap::Args)]
pub(crate) struct Which {
    #[arg(required_unless_present = "all")]
    ids: Vec<DeadLetterId>,
    /// All open ones.
    #[arg(long, conflicts_with = "ids")]
    all: bool,
}

/// The operator has no account; the audit log shows the nil id.
const OPERATOR: UserId = UserId::new(Uuid::nil());

/// Rows per read.
const PAGE: u32 = 100;

pub(crate) async fn run(command: Dlq, config: Config) -> Result<ExitCode> {
    let context = bootstrap::context(&config).await?.context;
    match command {
        Dlq::List { all, limit } => list(&context, all, limit).await?,
        Dlq::Show { id } => {
            let dead = context.store.dead_letter(id).await?.context("no such dead letter")?;
            println!("{}", serde_json::to_string_pretty(&dead)?);
        }
        Dlq::Replay(which) => close(&context, which, DeadLetterVerb::Replay).await?,
        Dlq::Drop(which) => close(&context, which, DeadLetterVerb::Drop).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(context: &AppContext, all: bool, limit: u32) -> Result<()> {
    let status = (!all).then_some(DeadLetterStatus::Open);
    let page = PageRequest { limit: limit.clamp(1, PAGE) - 1, after: None };
    let rows = context.store.dead_letters(status, page).await?;
    if rows.is_empty() {
        println!("There are no dead letters.");
        return Ok(());
    }
    println!(
        "{:<36} {:<9} {:<13} {:<22} {:>5}  error",
        "id", "status", "consumer", "type", "tries"
    );
    for dead in rows {
        let (status, error) = (dead.status.as_str(), dead.error.lines().next().unwrap_or_default());
        println!(
            "{:<36} {status:<9} {:<13} {:<22} {:>5}  {error}",
            dead.id.to_string(),
            dead.consumer,
            dead.kind,
            dead.attempts
        );
    }
    Ok(())
}

async fn close(context: &AppContext, which: Which, verb: DeadLetterVerb) -> Result<()> {
    let mut ids = if which.all { open(context).await? } else { which.ids };
    let mut n_closed = 0;
    while !ids.is_empty() {
        for id in &ids {
            let (store, now) = (&context.store, context.now());
            let closed = store.close_dead_letter(*id, verb, OPERATOR, now).await;
            closed.with_context(|| format!("{id}"))?;
            n_closed += 1;
        }
        ids = if which.all { open(context).await? } else { Vec::new() };
    }
    match verb {
        DeadLetterVerb::Replay => println!("{n_closed} will be retried."),
        DeadLetterVerb::Drop => println!("{n_closed} dropped."),
    }
    Ok(())
}

async fn open(context: &AppContext) -> Result<Vec<DeadLetterId>> {
    let page = PageRequest { limit: PAGE, after: None };
    let open = context.store.dead_letters(Some(DeadLetterStatus::Open), page).await?;
    Ok(open.into_iter().map(|dead| dead.id).collect())
}
