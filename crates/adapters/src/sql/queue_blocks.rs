//! Blocks of place numbers and lobby indexes: one row per schedule, moved forward by comparing.

use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::{Row, params};
use app::Result;
use app::ports::queue_blocks::QueueBlocks;
use async_trait::async_trait;
use domain::queue::{Blocks, Draw, Grant, Need};
use domain::{ScheduleId, Timestamp};
use uuid::Uuid;

struct Find {
    schedule: ScheduleId,
    now: Timestamp,
}

struct GrantBlock {
    schedule: ScheduleId,
    need: Need,
    now: Timestamp,
}

work!(Sales: Find => find_or_start, Blocks);
work!(Sales: GrantBlock => grant, Grant);

#[async_trait]
impl QueueBlocks for SqlStore {
    async fn blocks(&self, schedule: ScheduleId, now: Timestamp) -> Result<Blocks> {
        self.write(Find { schedule, now }).await
    }

    async fn grant(&self, schedule: ScheduleId, need: Need, now: Timestamp) -> Result<Grant> {
        self.write(GrantBlock { schedule, need, now }).await
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
    blocks.ok_or_else(|| app::Error::Conflict(format!("the blocks of {schedule}")))
}

/// Keeps the lock apart from others that are named after the schedule.
const BLOCKS: u128 = 0x71_75_65_75_65;

/// Nodes that reserve at the same moment, as all do at an opening, take turns. The row changes only
/// as it was read, so that nothing rests on the lock alone.
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
    let (n_drawn, first): (Option<u32>, Option<u64>) = (row.get(4)?, row.get(5)?);
    Ok(Blocks {
        numbers_from: row.get(0)?,
        numbers_to: row.get(1)?,
        indexes_from: row.get(2)?,
        indexes_to: row.get(3)?,
        draw: n_drawn.zip(first).map(|(n_drawn, first)| Draw { n_drawn, first }),
    })
}
