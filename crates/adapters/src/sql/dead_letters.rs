//! What was given up: one row per message and consumer.

use super::audit;
use super::outbox::{self, Outgoing};
use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::{Row, params};
use app::Result;
use app::paging::PageAsk;
use app::ports::dead_letters::{
    DeadLetter, DeadLetterStatus, DeadLetterVerb, DeadLetters, RELAY, SetAside,
};
use async_trait::async_trait;
use domain::messages::MessageKind;
use domain::{DeadLetterId, Refusal, Timestamp, UserId};
use serde_json::json;
use uuid::Uuid;

struct ListDead {
    status: Option<DeadLetterStatus>,
    page: PageAsk,
}

struct ShowDead(DeadLetterId);

struct Close {
    id: DeadLetterId,
    verb: DeadLetterVerb,
    actor: UserId,
    now: Timestamp,
}

struct Replays(u32);

struct FinishReplay {
    id: DeadLetterId,
    error: Option<String>,
    now: Timestamp,
}

struct OpenByConsumer;

work!(Worker: SetAside => set_aside, ());
work!(Worker: ListDead => list, Vec<DeadLetter>);
work!(Worker: ShowDead => show, Option<DeadLetter>);
work!(Worker: Close => close, ());
work!(Worker: Replays => replays, Vec<DeadLetter>);
work!(Worker: FinishReplay => finish_replay, ());
work!(Worker: OpenByConsumer => open_by_consumer, Vec<(String, u64)>);

#[async_trait]
impl DeadLetters for SqlStore {
    async fn set_aside(&self, command: SetAside) -> Result<()> {
        self.write(command).await
    }

    async fn dead_letters(
        &self,
        status: Option<DeadLetterStatus>,
        page: PageAsk,
    ) -> Result<Vec<DeadLetter>> {
        self.read(ListDead { status, page }).await
    }

    async fn dead_letter(&self, id: DeadLetterId) -> Result<Option<DeadLetter>> {
        self.read(ShowDead(id)).await
    }

    async fn close_dead_letter(
        &self,
        id: DeadLetterId,
        verb: DeadLetterVerb,
        actor: UserId,
        now: Timestamp,
    ) -> Result<()> {
        self.write(Close { id, verb, actor, now }).await
    }

    async fn replays(&self, limit: u32) -> Result<Vec<DeadLetter>> {
        self.read(Replays(limit)).await
    }

    async fn finish_replay(
        &self,
        id: DeadLetterId,
        error: Option<String>,
        now: Timestamp,
    ) -> Result<()> {
        self.write(FinishReplay { id, error, now }).await
    }

    async fn open_dead_letters(&self) -> Result<Vec<(String, u64)>> {
        self.read(OpenByConsumer).await
    }
}

/// Adds the row, or opens it again; gives its id when it is new.
pub(super) async fn insert(tx: &mut dyn Tx, command: &SetAside) -> Result<Option<Uuid>> {
    let again = "update dead_letters
                    set status = 'OPEN', error = $3, attempts = attempts + $4, updated_at = $5
                  where message_id = $1 and consumer = $2";
    let SetAside { message_id, consumer, error, attempts, now, .. } = command;
    let values = params![*message_id, consumer, error, *attempts, *now];
    if tx.execute(again, values).await? > 0 {
        return Ok(None);
    }
    let sql = "insert into dead_letters (id, message_id, consumer, topic, kind, key, body, error,
                                         attempts, status, created_at, updated_at)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'OPEN', $10, $10)
               on conflict (message_id, consumer) do nothing";
    let id = tx.chance().id(*now);
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

/// PostgreSQL keeps no text with a zero in it.
fn clean(body: &str) -> String {
    body.replace('\0', "\u{fffd}")
}

async fn set_aside(tx: &mut dyn Tx, command: &SetAside) -> Result<()> {
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
        id: row.get(0)?,
        message_id: row.get(1)?,
        consumer: row.get(2)?,
        topic: row.get(3)?,
        kind: row.get(4)?,
        key: row.get(5)?,
        body: row.get(6)?,
        error: row.get(7)?,
        attempts: row.get(8)?,
        status: row.parse(9, DeadLetterStatus::parse)?,
        created_at: row.get(10)?,
        updated_at: row.get(11)?,
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
    tx.row(sql, params![question.0]).await?.as_ref().map(read).transpose()
}

/// What the relay gave up goes back into the outbox; what a worker gave up is tried by a job.
async fn close(tx: &mut dyn Tx, command: &Close) -> Result<()> {
    let Close { id, verb, actor, now } = *command;
    let dead = show(tx, &ShowDead(id)).await?.ok_or(Refusal::NotFound)?;
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
        outbox::note_pushed();
    }
    let details = json!({ "messageId": dead.message_id, "consumer": dead.consumer });
    audit::note(tx, (actor, action), id, details, now).await
}

async fn replays(tx: &mut dyn Tx, question: &Replays) -> Result<Vec<DeadLetter>> {
    let sql = "select id, message_id, consumer, topic, kind, key, body, error, attempts, status,
                      created_at, updated_at
                 from dead_letters where status = 'REPLAY' order by id limit $1";
    tx.query(sql, params![question.0]).await?.iter().map(read).collect()
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
    let sql = "select consumer, count(*) from dead_letters
                where status in ('OPEN', 'REPLAY') group by consumer order by consumer";
    let read = |row: &Row| Ok((row.get(0)?, row.get(1)?));
    tx.query(sql, &[]).await?.iter().map(read).collect()
}
