//! Blocks of place numbers and lobby indexes: one row per schedule, advanced by compare-and-set.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use podo_app::Result;
use podo_app::waiting_room::port::blocks::QueueBlocks;
use podo_domain::waiting_room::{Blocks, Draw, Grant, Need};
use podo_domain::{ScheduleId, Timestamp};
use uuid::Uuid;

commands! {
    impl QueueBlocks for SqlStore {
        write blocks(Find { schedule: ScheduleId, now: Timestamp })
            -> Blocks as Sales => find_or_start;
        write grant(GrantBlock { schedule: ScheduleId, need: Need, now: Timestamp })
            -> Grant as Sales => grant;
    }
}

async fn find_or_start(tx: &mut dyn Tx, question: &Find) -> Result<Blocks> {
    let Find { schedule, now } = *question;
    if let Some(blocks) = find(tx, schedule).await? {
        return Ok(blocks);
    }
    let sql = "insert into queue_blocks
                 (schedule_id, numbers_from, numbers_to, indexes_from, indexes_to, updated_at)
               values ($1, $2, $3, $4, $5, $6)
               on conflict (schedule_id) do nothing";
    let Blocks { numbers_from, numbers_to, indexes_from, indexes_to, .. } = Blocks::starting(now);
    let values = params![schedule, numbers_from, numbers_to, indexes_from, indexes_to, now];
    tx.execute(sql, values).await?;
    let blocks = find(tx, schedule).await?;
    blocks.ok_or_else(|| {
        podo_app::Error::Conflict(format!("a concurrent command changed the blocks of {schedule}"))
    })
}

/// Separates this lock from others named after the schedule.
const BLOCKS: u128 = 0x71_75_65_75_65;

/// Nodes that reserve at the same moment, as all do at an opening, take turns. The update still
/// compares the row, so correctness doesn't depend on the lock.
async fn grant(tx: &mut dyn Tx, command: &GrantBlock) -> Result<Grant> {
    let GrantBlock { schedule, need, now } = *command;
    tx.lock(Uuid::from_u128(schedule.uuid().as_u128() ^ BLOCKS)).await?;
    let before = find_or_start(tx, &Find { schedule, now }).await?;
    let mut after = before;
    let grant = after.grant(need);
    if after != before {
        let sql = "update queue_blocks
                      set numbers_to = $2, indexes_from = $3, indexes_to = $4, n_drawn = $5,
                          drawn_first = $6, updated_at = $7
                    where schedule_id = $1 and numbers_to = $8 and indexes_to = $9";
        let Blocks { numbers_to, indexes_from, indexes_to, draw, .. } = after;
        let values = params![
            schedule,
            numbers_to,
            indexes_from,
            indexes_to,
            draw.map(|draw| draw.n_drawn),
            draw.map(|draw| draw.first),
            now,
            before.numbers_to,
            before.indexes_to
        ];
        tx.change(sql, vec![values.to_vec()]).await?;
    }
    Ok(grant)
}

async fn find(tx: &mut dyn Tx, schedule: ScheduleId) -> Result<Option<Blocks>> {
    let sql = "select numbers_from, numbers_to, indexes_from, indexes_to, n_drawn, drawn_first
                 from queue_blocks where schedule_id = $1";
    let row = tx.row(sql, params![schedule]).await?;
    row.as_ref().map(read).transpose()
}

fn read(row: &Row) -> Result<Blocks> {
    let (n_drawn, first): (Option<u32>, Option<u64>) =
        (row.get("n_drawn")?, row.get("drawn_first")?);
    Ok(Blocks {
        numbers_from: row.get("numbers_from")?,
        numbers_to: row.get("numbers_to")?,
        indexes_from: row.get("indexes_from")?,
        indexes_to: row.get("indexes_to")?,
        draw: n_drawn.zip(first).map(|(n_drawn, first)| Draw { n_drawn, first }),
    })
}
