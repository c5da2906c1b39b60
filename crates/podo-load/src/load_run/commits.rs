//! The baseline for durable writes: SQLite alone, one small insert per COMMIT.

use rusqlite::{Connection, Result};
use std::path::Path;
use std::time::Instant;

const INSERTS: u32 = 500;

/// Inserts per second, with the store's settings.
pub fn commit_one_by_one(folder: &Path) -> Result<f64> {
    let connection = Connection::open(folder.join("yardstick.db"))?;
    connection.execute_batch(
        "pragma journal_mode = wal; pragma synchronous = full;
         create table if not exists plain (id integer primary key, body text not null);",
    )?;
    let mut insert = connection.prepare("insert into plain (body) values ('a small row')")?;
    let started = Instant::now();
    for _ in 0..INSERTS {
        insert.execute([])?;
    }
    Ok(f64::from(INSERTS) / started.elapsed().as_secs_f64())
}
