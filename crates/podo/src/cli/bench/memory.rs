//! The server's memory, what a stream's event costs, its size on disk, and its start-up time.

use crate::cli::bench::figure::Figure;
use crate::cli::bench::process::{Meter, resident_kb};
use crate::cli::bench::start;
use anyhow::Result;
use podo_load::{Crowd, OpenConnections, Stay};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long the server may settle before its memory is read.
const SETTLE_FOR: Duration = Duration::from_secs(3);

/// How long a stream's events are counted, and how often the line moves meanwhile.
const PUSH_FOR: Duration = Duration::from_secs(20);
const MOVE_EVERY: Duration = Duration::from_secs(1);

/// All waiting fans open a connection of each kind.
pub(super) async fn connections(
    crowd: &Crowd,
    kinds: &[Stay],
    process: u32,
) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    // All stay open to the end, because new connections would reuse freed memory.
    let mut all = Vec::new();
    for kind in kinds {
        let idle_us = processor_us(process, tokio::time::sleep(PUSH_FOR)).await?.1;
        let before = settled_kb(process).await?;
        let mut open = crowd.stay(*kind).await?;
        let more = settled_kb(process).await?.saturating_sub(before);
        let each = more as f64 / open.len().max(1) as f64;
        let what = match kind {
            Stay::Polling => "connections that poll",
            Stay::Listening => "streams of the waiting room",
        };
        figures.push(Figure::alone(format!("{} {what}", open.len()), each, "KB each"));
        if *kind == Stay::Listening {
            let (n_events, spent_us) = processor_us(process, push(crowd, &mut open)).await?;
            let each = (spent_us - idle_us) / n_events?.max(1) as f64;
            figures.push(Figure::alone(format!("an event on {} of them", open.len()), each, "µs"));
        }
        all.push(open);
    }
    Ok(figures)
}

/// The line moves, so that every stream has news whenever it looks. Returns the number of events.
async fn push(crowd: &Crowd, open: &mut OpenConnections) -> Result<u64> {
    let n_moves = PUSH_FOR.as_secs() / MOVE_EVERY.as_secs();
    let moves = crowd.leave_one_by_one(n_moves as usize, MOVE_EVERY);
    let (n_events, moved) = tokio::join!(open.count_events(PUSH_FOR), moves);
    moved?;
    Ok(n_events)
}

/// The result of some work, and the server's CPU time meanwhile, in microseconds.
async fn processor_us<T>(process: u32, work: impl Future<Output = T>) -> Result<(T, f64)> {
    let began_at = Meter::Time.begin(process)?;
    let result = work.await;
    Ok((result, Meter::Time.spent(process, began_at)?))
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
