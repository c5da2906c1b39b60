//! Dead letters: one row per message and consumer.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::messaging::outbox;
use crate::sql::messaging::outbox::Outgoing;
use crate::sql::operations::audit;
use podo_app::Result;
use podo_app::messaging::port::dead_letters::{
    DeadLetter, DeadLetterStatus, DeadLetterVerb, DeadLetters, NewDeadLetter, RELAY,
};
use podo_app::store::PageRequest;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::{DeadLetterId, Refusal, Timestamp, UserId};
use serde_json::json;
use uuid::Uuid;

commands! {
    impl DeadLetters for SqlStore {
        write add_dead_letter(NewDeadLetter) -> () as Worker => add;
        read dead_letters(ListDead { status: Option<DeadLetterStatus>, page: PageRequest })
            -> Vec<DeadLetter> as Worker => list;
        read dead_letter(ShowDead { id: DeadLetterId }) -> Option<DeadLetter> as Worker => show;
        write close_dead_letter(Close {
            id: DeadLetterId, verb: DeadLetterVerb, actor: UserId, now: Timestamp,
        }) -> () as Worker => close;
        read replays(Replays { limit: u32 }) -> Vec<DeadLetter> as Worker => replays;
        write finish_replay(FinishReplay {
            id: DeadLetterId, error: Option<String>, now: Timestamp,
        }) -> () as Worker => finish_replay;
        read open_dead_letters(OpenByConsumer {})
            -> Vec<(String, u64)> as Worker => open_by_consumer;
    }
}

/// Inserts or reopens the row. Returns its id if it is new.
pub(crate) async fn insert(tx: &mut dyn Tx, command: &NewDeadLetter) -> Result<Option<Uuid>> {
    let again = "update dead_letters
                    set status = 'OPEN', error = $3, attempts = attempts + $4, updated_at = $5
                  where message_id = $1 and consumer = $2";
    let NewDeadLetter { message_id, consumer, error, attempts, now, .. } = command;
    let values = params![*message_id, consumer, error, *attempts, *now];
    if tx.execute(again, values).await? > 0 {
        return Ok(None);
    }
    let sql = "insert into dead_letters (id, message_id, consumer, topic, kind, key, body, error,
                                         attempts, status, created_at, updated_at)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'OPEN', $10, $10)
               on conflict (message_id, consumer) do nothing";
    let id = tx.rng().id(*now);
    let values = params![
        id,
        *message_id,
        consumer,
        &command.topic,
        &command.kind,
        &command.key,
        clean(&command.body),
        error,
        *attempts,
        *now
    ];
    let is_new = tx.execute(sql, values).await? > 0;
    Ok(is_new.then_some(id))
}

/// PostgreSQL rejects text that contains a NUL character.
fn clean(body: &str) -> String {
    body.replace('\0', "\u{fffd}")
}

async fn add(tx: &mut dyn Tx, command: &NewDeadLetter) -> Result<()> {
    let Some(id) = insert(tx, command).await? else { return Ok(()) };
    let payload = json!({
        "deadLetterId": id,
        "messageId": command.message_id,
        "consumer": command.consumer,
        "type": command.kind,
        "error": command.error,
        "attempts": command.attempts,
        "message": clean(&command.body),
    });
    let kind = MessageKind::DeadLettered;
    let message = Outgoing { kind, aggregate: id, seq: 1, key: id, payload: &payload };
    outbox::push(tx, message, command.now).await
}

fn read(row: &Row) -> Result<DeadLetter> {
    Ok(DeadLetter {
        id: row.get("id")?,
        message_id: row.get("message_id")?,
        consumer: row.get("consumer")?,
        topic: row.get("topic")?,
        kind: row.get("kind")?,
        key: row.get("key")?,
        body: row.get("body")?,
        error: row.get("error")?,
        attempts: row.get("attempts")?,
        status: row.parse("status", DeadLetterStatus::parse)?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

async fn list(tx: &mut dyn Tx, question: &ListDead) -> Result<Vec<DeadLetter>> {
    let sql = "select id, message_id, consumer, topic, kind, key, body, error, attempts, status,
                      created_at, updated_at
                 from dead_letters
                where ($1 = '' or status = $1) and id < $2
                order by id desc limit $3";
    let status = question.status.map_or("", DeadLetterStatus::as_str);
    let before = question.page.after.unwrap_or(Uuid::max());
    let values = params![status, before, question.page.limit + 1];
    tx.query(sql, values).await?.iter().map(read).collect()
}

async fn show(tx: &mut dyn Tx, question: &ShowDead) -> Result<Option<DeadLetter>> {
    let sql = "select id, message_id, consumer, topic, kind, key, body, error, attempts, status,
                      created_at, updated_at
                 from dead_letters where id = $1";
    tx.row(sql, params![question.id]).await?.as_ref().map(read).transpose()
}

/// A dead letter of the relay goes back into the outbox; a job retries a worker's.
async fn close(tx: &mut dyn Tx, command: &Close) -> Result<()> {
    let Close { id, verb, actor, now } = *command;
    let dead = show(tx, &ShowDead { id }).await?.ok_or(Refusal::NotFound)?;
    let is_relays = dead.consumer == RELAY;
    let (status, action) = match verb {
        DeadLetterVerb::Replay if is_relays => (DeadLetterStatus::Replayed, "dlq.replay"),
        DeadLetterVerb::Replay => (DeadLetterStatus::Replay, "dlq.replay"),
        DeadLetterVerb::Drop => (DeadLetterStatus::Dropped, "dlq.drop"),
    };
    let sql = "update dead_letters set status = $2, updated_at = $3
                where id = $1 and status = 'OPEN'";
    if tx.execute(sql, params![id, status.as_str(), now]).await? == 0 {
        return Err(Refusal::DeadLetterClosed.into());
    }
    if is_relays && verb == DeadLetterVerb::Replay {
        let again = "update outbox set status = 'PENDING', attempts = 0, next_at = $2
                      where id = $1 and status = 'DEAD'";
        tx.execute(again, params![dead.message_id, now]).await?;
        tx.context().count_message();
    }
    let details = json!({ "messageId": dead.message_id, "consumer": dead.consumer });
    audit::note(tx, actor, action, id, details, now).await
}

async fn replays(tx: &mut dyn Tx, question: &Replays) -> Result<Vec<DeadLetter>> {
    // Repeats the condition of the index, because SQLite doesn't infer it.
    let sql = "select id, message_id, consumer, topic, kind, key, body, error, attempts, status,
                      created_at, updated_at
                 from dead_letters where status in ('OPEN', 'REPLAY') and status = 'REPLAY'
                order by id limit $1";
    tx.query(sql, params![question.limit]).await?.iter().map(read).collect()
}

async fn finish_replay(tx: &mut dyn Tx, command: &FinishReplay) -> Result<()> {
    let status = match command.error {
        Some(_) => DeadLetterStatus::Open,
        None => DeadLetterStatus::Replayed,
    };
    let sql = "update dead_letters
                  set status = $2, error = coalesce($3, error), attempts = attempts + 1,
                      updated_at = $4
                where id = $1 and status = 'REPLAY'";
    let values = params![command.id, status.as_str(), command.error.clone(), command.now];
    tx.execute(sql, values).await?;
    Ok(())
}

async fn open_by_consumer(tx: &mut dyn Tx, _: &OpenByConsumer) -> Result<Vec<(String, u64)>> {
    let sql = "select consumer, count(*) as n_open from dead_letters
                where status in ('OPEN', 'REPLAY') group by consumer order by consumer";
    let read = |row: &Row| Ok((row.get("consumer")?, row.get("n_open")?));
    tx.query(sql, &[]).await?.iter().map(read).collect()
}
