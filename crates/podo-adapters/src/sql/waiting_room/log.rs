//! The log of waiting room events.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, first_at, params};
use podo_app::Result;
use podo_app::waiting_room::port::log::{QueueEventsOf, QueueLog};
use podo_domain::Timestamp;
use podo_domain::waiting_room::{QueueEvent, QueueEventKind};
use uuid::Uuid;

commands! {
    impl QueueLog for SqlStore {
        write append_queue_events(Append { events: Vec<QueueEvent>, now: Timestamp })
            -> () as Sales => append;
        read queue_events(QueueEventsOf)
            -> Vec<(Uuid, QueueEvent)> as Sales or_replica => events_of;
        write forget_queue_events(Forget { before: Timestamp, limit: u32 })
            -> u64 as Worker => forget;
    }
}

/// Ids begin with the event's time: they order the log and drive its retention.
async fn append(tx: &mut dyn Tx, command: &Append) -> Result<()> {
    let sql = "insert into queue_log
                 (id, schedule_id, user_id, kind, place_number, position, happened_at)
               values ($1, $2, $3, $4, $5, $6, $7)";
    let mut sets = Vec::with_capacity(command.events.len());
    for event in &command.events {
        let id = tx.rng().id(event.at.min(command.now));
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
        asked.schedule.map_or(Uuid::nil(), podo_domain::ScheduleId::uuid),
        asked.limit
    ];
    tx.query(sql, values).await?.iter().map(read_event).collect()
}

fn read_event(row: &Row) -> Result<(Uuid, QueueEvent)> {
    let position: Option<i64> = row.get("position")?;
    let event = QueueEvent {
        schedule: row.get("schedule_id")?,
        user: row.get("user_id")?,
        kind: row.parse("kind", QueueEventKind::parse)?,
        number: row.get("place_number")?,
        position: position.map(i64::unsigned_abs),
        at: row.get("happened_at")?,
    };
    Ok((row.get("id")?, event))
}

async fn forget(tx: &mut dyn Tx, command: &Forget) -> Result<u64> {
    let sql = "delete from queue_log
                where id in (select id from queue_log where id < $1 order by id limit $2)";
    Ok(tx.execute(sql, params![first_at(command.before), command.limit]).await?)
}
