//! The server's memory, its size on disk, and its start-up time.

use crate::cli::bench::figure::Figure;
use crate::cli::bench::process::{Meter, resident_kb};
use crate::cli::bench::start;
use anyhow::Result;
use podo_domain::ScheduleId;
use podo_load::{Crowd, FanAccount, Stay, Target};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long the server may settle before its memory is read.
const SETTLE_FOR: Duration = Duration::from_secs(3);

/// All waiting fans open a connection that polls, and then a stream beside it.
pub(super) async fn connections(
    target: Target,
    schedule: ScheduleId,
    accounts: &[FanAccount],
    n_connections: usize,
    process: u32,
) -> Result<Vec<Figure>> {
    let crowd = Crowd::queue(target, schedule, accounts, n_connections).await?;
    let mut figures = Vec::new();
    // All stay open to the end, because new connections would reuse freed memory.
    let mut all = Vec::new();
    for (what, how) in
        [("connections that poll", Stay::Polling), ("streams of the waiting room", Stay::Listening)]
    {
        let before = settled_kb(process).await?;
        let open = crowd.stay(how).await?;
        let more = settled_kb(process).await?.saturating_sub(before);
        let each = more as f64 / open.len().max(1) as f64;
        figures.push(Figure::alone(format!("{} {what}", open.len()), each, "KB each"));
        all.push(open);
    }
    Ok(figures)
}

/// An idle server, on a folder that already has a database.
pub(super) async fn idle(data: &Path) -> Result<Vec<Figure>> {
    let started = Instant::now();
    let mut server = start(data, &[], &Meter::Time)?;
    let start = started.elapsed();
    let idle = settled_kb(server.process.id()).await?;
    server.stop()?;
    let binary = std::fs::metadata(std::env::current_exe()?)?.len();
    Ok(vec![
        Figure::alone("start until it listens", start.as_secs_f64() * 1e3, "ms"),
        Figure::alone("memory of an idle server", idle as f64 / 1e3, "MB"),
        Figure::alone("the program on disk", binary as f64 / 1e6, "MB"),
    ])
}

/// The memory of a process after it has settled.
async fn settled_kb(process: u32) -> Result<u64> {
    tokio::time::sleep(SETTLE_FOR).await;
    resident_kb(process)
}
