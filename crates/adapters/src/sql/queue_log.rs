//! The log of what happened in the waiting rooms.

use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::{Row, first_at, params};
use app::Result;
use app::ports::queue_log::{QueueEventsOf, QueueLog};
use async_trait::async_trait;
use domain::Timestamp;
use domain::queue::{QueueEvent, QueueEventKind};
use uuid::Uuid;

struct Append {
    events: Vec<QueueEvent>,
    now: Timestamp,
}

struct Forget {
    before: Timestamp,
    limit: u32,
}

work!(Sales: Append => append, ());
work!(Sales or_replica: QueueEventsOf => events_of, Vec<(Uuid, QueueEvent)>);
work!(Worker: Forget => forget, u64);

#[async_trait]
impl QueueLog for SqlStore {
    async fn append_queue_events(&self, events: Vec<QueueEvent>, now: Timestamp) -> Result<()> {
        self.write(Append { events, now }).await
    }

    async fn queue_events(&self, asked: QueueEventsOf) -> Result<Vec<(Uuid, QueueEvent)>> {
        self.read(asked).await
    }

    async fn forget_queue_events(&self, before: Timestamp, limit: u32) -> Result<u64> {
        self.write(Forget { before, limit }).await
    }
}

/// Ids begin with the time of the event: they order the log and end its life.
async fn append(tx: &mut dyn Tx, command: &Append) -> Result<()> {
    let sql = "insert into queue_log
                 (id, schedule_id, user_id, kind, place_number, position, happened_at)
               values ($1, $2, $3, $4, $5, $6, $7)";
    let mut sets = Vec::with_capacity(command.events.len());
    for event in &command.events {
        let id = tx.chance().id(event.at.min(command.now));
        let values = params![
            id,
            event.schedule,
            event.user,
            event.kind.as_str(),
            event.number,
            event.position.map(|position| i64::try_from(position).unwrap_or(i64::MAX)),
            event.at
        ];
        sets.push(values.to_vec());
    }
    tx.execute_each(sql, sets).await?;
    Ok(())
}

async fn events_of(tx: &mut dyn Tx, asked: &QueueEventsOf) -> Result<Vec<(Uuid, QueueEvent)>> {
    let sql = "select id, schedule_id, user_id, kind, place_number, position, happened_at
                 from queue_log
                where user_id = $1 and id < $2 and (not $3 or schedule_id = $4)
                order by id desc limit $5";
    let values = params![
        asked.user,
        asked.before.unwrap_or(Uuid::max()),
        asked.schedule.is_some(),
        asked.schedule.map_or(Uuid::nil(), domain::ScheduleId::uuid),
        asked.limit
    ];
    tx.query(sql, values).await?.iter().map(read_event).collect()
}

fn read_event(row: &Row) -> Result<(Uuid, QueueEvent)> {
    let position: Option<i64> = row.get(5)?;
    let event = QueueEvent {
        schedule: row.get(1)?,
        user: row.get(2)?,
        kind: row.parse(3, QueueEventKind::parse)?,
        number: row.get(4)?,
        position: position.map(i64::unsigned_abs),
        at: row.get(6)?,
    };
    Ok((row.get(0)?, event))
}

async fn forget(tx: &mut dyn Tx, command: &Forget) -> Result<u64> {
    let sql = "delete from queue_log
                where id in (select id from queue_log where id < $1 order by id limit $2)";
    Ok(tx.execute(sql, params![first_at(command.before), command.limit]).await?)
}
