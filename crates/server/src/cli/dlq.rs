//! `podo admin dlq`: messages that were given up.

use crate::config::Config;
use crate::wire;
use anyhow::{Context, Result};
use app::Platform;
use app::paging::PageAsk;
use app::ports::dead_letters::{DeadLetterStatus, DeadLetterVerb};
use clap::Subcommand;
use domain::{DeadLetterId, UserId};
use std::process::ExitCode;
use uuid::Uuid;

#[derive(Subcommand)]
pub(super) enum Dlq {
    /// List what waits for somebody to look at it.
    List {
        /// Also what was replayed or dropped.
        #[arg(long)]
        all: bool,
        #[arg(long, default_value_t = 50, value_name = "ROWS")]
        limit: u32,
    },
    /// Show one with the whole message.
    Show { id: DeadLetterId },
    /// Try again: a node with the role `worker` does it within a second or two.
    Replay(Which),
    /// Give up for good.
    Drop(Which),
}

#[derive(clap::Args)]
pub(super) struct Which {
    #[arg(required_unless_present = "all")]
    ids: Vec<DeadLetterId>,
    /// All that are open.
    #[arg(long, conflicts_with = "ids")]
    all: bool,
}

/// In the audit log it was nobody with an account: the operator.
const OPERATOR: UserId = UserId::new(Uuid::nil());

/// Rows read at once.
const PAGE: u32 = 100;

pub(super) async fn run(command: Dlq, config: Config) -> Result<ExitCode> {
    let platform = wire::platform(&config).await?.platform;
    match command {
        Dlq::List { all, limit } => list(&platform, all, limit).await?,
        Dlq::Show { id } => {
            let dead = platform.store.dead_letter(id).await?.context("there is no such message")?;
            println!("{}", serde_json::to_string_pretty(&dead)?);
        }
        Dlq::Replay(which) => close(&platform, which, DeadLetterVerb::Replay).await?,
        Dlq::Drop(which) => close(&platform, which, DeadLetterVerb::Drop).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(platform: &Platform, all: bool, limit: u32) -> Result<()> {
    let status = (!all).then_some(DeadLetterStatus::Open);
    let page = PageAsk { limit: limit.clamp(1, PAGE) - 1, after: None };
    let rows = platform.store.dead_letters(status, page).await?;
    if rows.is_empty() {
        println!("No message was given up.");
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

async fn close(platform: &Platform, which: Which, verb: DeadLetterVerb) -> Result<()> {
    let mut ids = if which.all { open(platform).await? } else { which.ids };
    let mut n_closed = 0;
    while !ids.is_empty() {
        for id in &ids {
            let (store, now) = (&platform.store, platform.now());
            let closed = store.close_dead_letter(*id, verb, OPERATOR, now).await;
            closed.with_context(|| format!("{id}"))?;
            n_closed += 1;
        }
        ids = if which.all { open(platform).await? } else { Vec::new() };
    }
    match verb {
        DeadLetterVerb::Replay => println!("{n_closed} will be tried again."),
        DeadLetterVerb::Drop => println!("{n_closed} dropped."),
    }
    Ok(())
}

async fn open(platform: &Platform) -> Result<Vec<DeadLetterId>> {
    let page = PageAsk { limit: PAGE, after: None };
    let open = platform.store.dead_letters(Some(DeadLetterStatus::Open), page).await?;
    Ok(open.into_iter().map(|dead| dead.id).collect())
}
