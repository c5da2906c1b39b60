//! What an open connection costs the server in memory.

use super::table::CONNECTIONS;
use anyhow::{Context, Result};
use domain::ScheduleId;
use load::{Crowd, FanAccount, Stay, Target};
use std::time::Duration;

/// How long the server may take to settle before its memory is read.
const SETTLE_FOR: Duration = Duration::from_secs(3);

/// All who wait open a connection that polls, and then a stream beside it.
pub(super) async fn connections(
    target: Target,
    schedule: ScheduleId,
    accounts: &[FanAccount],
    process: u32,
) -> Result<()> {
    let crowd = Crowd::queue(target, schedule, accounts, CONNECTIONS).await?;
    println!("{:<36}{:>12}{:>18}", "", "open", "KB each");
    // All stay open to the end: what is freed would serve the next ones.
    let mut all = Vec::new();
    for (what, how) in
        [("connections that poll", Stay::Polling), ("streams of the waiting room", Stay::Listening)]
    {
        let before = resident_kb(process).await?;
        let open = crowd.stay(how).await?;
        let more = resident_kb(process).await?.saturating_sub(before);
        println!("{what:<36}{:>12}{:>18.1}", open.len(), more as f64 / open.len().max(1) as f64);
        all.push(open);
    }
    Ok(())
}

/// The resident memory of a process.
async fn resident_kb(process: u32) -> Result<u64> {
    tokio::time::sleep(SETTLE_FOR).await;
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kb = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kb.context("the server's memory is not told")
}
