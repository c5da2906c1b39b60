//! The outbox seen by the relay, what consumers did, and the mailbox.

use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::{Row, Value, first_at, params};
use super::{dead_letters, notifications};
use app::Result;
use app::messages::wrap;
use app::ports::dead_letters::{RELAY, SetAside};
use app::ports::messages::{Backlog, Consume, Letter, Message, Messages};
use async_trait::async_trait;
use domain::backoff::backoff;
use domain::messages::{ATTEMPTS_MAX, MessageKind, Topic, jittered_ms, publish_delay_ms};
use domain::{MessageId, Timestamp, UserId};
use std::time::Duration;

struct DueMessages {
    now: Timestamp,
    limit: u32,
}

struct PutOffUnreadable {
    now: Timestamp,
    limit: u32,
}

struct Published {
    messages: Vec<MessageId>,
    now: Timestamp,
}

struct Failed {
    message: Message,
    error: String,
    now: Timestamp,
}

struct MailboxOf {
    user: UserId,
    limit: u32,
}

struct Forget {
    published_before: Timestamp,
    done_before: Timestamp,
    limit: u32,
}

struct ConsumeAll(Vec<Consume>);

struct CountBacklog;

work!(Worker: DueMessages => due, Vec<Message>);
work!(Worker: PutOffUnreadable => put_off_unreadable, u64);
work!(Worker: Published => published, ());
work!(Worker: Failed => failed, ());
work!(Worker: ConsumeAll => consume_all, Vec<bool>);
work!(Sales or_replica: MailboxOf => mailbox, Vec<Letter>);
work!(Worker: Forget => forget, u64);
work!(Worker: CountBacklog => backlog, Backlog);

#[async_trait]
impl Messages for SqlStore {
    async fn due_messages(&self, now: Timestamp, limit: u32) -> Result<Vec<Message>> {
        self.read(DueMessages { now, limit }).await
    }

    async fn put_off_unreadable(&self, now: Timestamp, limit: u32) -> Result<u64> {
        self.write(PutOffUnreadable { now, limit }).await
    }

    async fn written(&self) {
        self.wait_for_message().await;
    }

    async fn tell_others(&self) -> Result<()> {
        self.tell_other_processes().await
    }

    async fn hear_others(&self) -> Result<()> {
        self.hear_other_processes().await
    }

    async fn messages_published(&self, messages: Vec<MessageId>, now: Timestamp) -> Result<()> {
        self.write(Published { messages, now }).await
    }

    async fn message_failed(&self, message: &Message, error: String, now: Timestamp) -> Result<()> {
        self.write(Failed { message: message.clone(), error, now }).await
    }

    async fn consume(&self, commands: Vec<Consume>) -> Result<Vec<bool>> {
        self.write(ConsumeAll(commands)).await
    }

    async fn mailbox(&self, user: UserId, limit: u32) -> Result<Vec<Letter>> {
        self.read(MailboxOf { user, limit }).await
    }

    async fn forget_messages(
        &self,
        published_before: Timestamp,
        done_before: Timestamp,
        limit: u32,
    ) -> Result<u64> {
        self.write(Forget { published_before, done_before, limit }).await
    }

    async fn backlog(&self) -> Result<Backlog> {
        self.read(CountBacklog).await
    }
}

/// A message that waits for its next try holds back the later ones of its aggregate: they must
/// not arrive first. So does one whose id sorts behind theirs, as after a clock that stepped back.
///
/// The earlier ones are asked for by what they are not, so that the index of those that wait does
/// not seem to fit: an engine that believes it to be short reads all of it for every message.
async fn due(tx: &mut dyn Tx, question: &DueMessages) -> Result<Vec<Message>> {
    let rows = due_rows(tx, (question.now, question.limit)).await?;
    rows.iter().map(read).collect()
}

async fn due_rows(tx: &mut dyn Tx, (now, limit): (Timestamp, u32)) -> Result<Vec<Row>> {
    let sql = "select o.id, o.aggregate_id, o.seq, o.topic, o.kind, o.key, o.payload, o.attempts,
                      o.created_at, o.trace
                 from outbox o
                where o.status = 'PENDING' and o.next_at <= $1
                  and not exists (select 1 from outbox p
                                   where p.aggregate_id = o.aggregate_id and p.seq < o.seq
                                     and p.status not in ('PUBLISHED', 'DEAD')
                                     and (p.next_at > $1 or p.id > o.id))
                order by o.id limit $2";
    // After an outage there are thousands where statistics say that there are none.
    tx.follow_indexes().await?;
    Ok(tx.query(sql, params![now, limit]).await?)
}

async fn put_off_unreadable(tx: &mut dyn Tx, command: &PutOffUnreadable) -> Result<u64> {
    let sql = "update outbox set attempts = attempts + 1, last_error = $2, next_at = $3
                where id = $1 and status = 'PENDING'";
    let mut n_put_off = 0;
    for row in due_rows(tx, (command.now, command.limit)).await? {
        let Err(error) = read(&row) else { continue };
        let (id, attempts): (MessageId, u32) = (row.get(0)?, row.get(7)?);
        tracing::error!(message.id = %id, %error, "A message cannot be read by this version");
        let next_at = command.now.plus(backoff(attempts + 1, tx.chance().number()));
        n_put_off += tx.execute(sql, params![id, error.to_string(), next_at]).await?;
    }
    Ok(n_put_off)
}

fn read(row: &Row) -> Result<Message> {
    Ok(Message {
        id: row.get(0)?,
        aggregate: row.get(1)?,
        seq: row.get(2)?,
        topic: row.parse(3, Topic::parse)?,
        kind: row.parse(4, MessageKind::parse)?,
        key: row.get(5)?,
        payload: row.get(6)?,
        attempts: row.get(7)?,
        created_at: row.get(8)?,
        trace: row.get(9)?,
    })
}

async fn published(tx: &mut dyn Tx, command: &Published) -> Result<()> {
    let sql = "update outbox set status = 'PUBLISHED', published_at = $2, last_error = null
                where id = $1 and status = 'PENDING'";
    let set = |message: &MessageId| params![*message, command.now].to_vec();
    tx.execute_each(sql, command.messages.iter().map(set).collect()).await?;
    Ok(())
}

async fn failed(tx: &mut dyn Tx, command: &Failed) -> Result<()> {
    let sql = "update outbox set attempts = attempts + 1, last_error = $2
                where id = $1 and status = 'PENDING' returning attempts";
    let message = &command.message;
    let Some(row) = tx.row(sql, params![message.id, &command.error]).await? else {
        return Ok(());
    };
    let attempts: u32 = row.get(0)?;
    if attempts >= ATTEMPTS_MAX {
        return die(tx, command, attempts).await;
    }
    let delay = jittered_ms(publish_delay_ms(attempts), tx.chance().number());
    let next_at = command.now.plus(Duration::from_millis(delay.unsigned_abs()));
    let later = "update outbox set next_at = $2 where id = $1";
    tx.execute(later, params![message.id, next_at]).await?;
    Ok(())
}

/// Sets a message aside that cannot be published. Those behind it go on: its number shows the gap.
async fn die(tx: &mut dyn Tx, command: &Failed, attempts: u32) -> Result<()> {
    let message = &command.message;
    let dead = "update outbox set status = 'DEAD' where id = $1";
    tx.execute(dead, params![message.id]).await?;
    let (key, body) = match wrap(message) {
        Ok(parcel) => (parcel.key, String::from_utf8_lossy(&parcel.body).into_owned()),
        // What cannot be wrapped is kept as it is.
        Err(_) => (message.key.to_string(), message.payload.clone()),
    };
    let aside = SetAside {
        message_id: message.id,
        consumer: RELAY.to_owned(),
        topic: message.topic.as_str().to_owned(),
        kind: message.kind.as_str().to_owned(),
        key,
        body,
        error: command.error.clone(),
        attempts,
        now: command.now,
    };
    dead_letters::insert(tx, &aside).await?;
    Ok(())
}

/// Marks messages as seen by a consumer, in the transaction of what it does about them; says which
/// of them it had not seen before.
pub(super) async fn mark(
    tx: &mut dyn Tx,
    consumer: &str,
    messages: impl Iterator<Item = MessageId>,
    now: Timestamp,
) -> Result<Vec<bool>> {
    let sets = messages.map(|message| params![message, consumer, now].to_vec());
    mark_all(tx, sets.collect()).await
}

async fn mark_all(tx: &mut dyn Tx, sets: Vec<Vec<Value>>) -> Result<Vec<bool>> {
    let sql = "insert into processed_messages (message_id, consumer, processed_at)
               values ($1, $2, $3) on conflict (message_id, consumer) do nothing";
    let changed = tx.execute_each(sql, sets).await?;
    Ok(changed.into_iter().map(|n_changed| n_changed > 0).collect())
}

async fn consume_all(tx: &mut dyn Tx, ConsumeAll(commands): &ConsumeAll) -> Result<Vec<bool>> {
    let sets = commands.iter().map(|it| params![it.message, it.consumer, it.now].to_vec());
    let is_new = mark_all(tx, sets.collect()).await?;
    let new = commands.iter().zip(&is_new).filter(|(_, is_new)| **is_new);
    deliver(tx, new.map(|(command, _)| command).collect()).await?;
    Ok(is_new)
}

async fn deliver(tx: &mut dyn Tx, commands: Vec<&Consume>) -> Result<()> {
    let sql = "insert into mailbox (message_id, channel, user_id, subject, body, created_at)
               values ($1, 'MAILBOX', $2, $3, $4, $5)";
    let mut letters = Vec::with_capacity(commands.len());
    for command in &commands {
        letters.extend(command.letters.iter().map(|letter| {
            let Letter { user, subject, body, created_at } = letter;
            params![command.message, *user, subject, body, *created_at].to_vec()
        }));
    }
    tx.add(sql, letters).await?;
    for command in commands {
        notifications::plan(tx, &command.notices, command.now).await?;
    }
    Ok(())
}

async fn mailbox(tx: &mut dyn Tx, question: &MailboxOf) -> Result<Vec<Letter>> {
    let sql = "select user_id, subject, body, created_at from mailbox
                where user_id = $1 order by created_at desc limit $2";
    let read = |row: &Row| {
        Ok(Letter {
            user: row.get(0)?,
            subject: row.get(1)?,
            body: row.get(2)?,
            created_at: row.get(3)?,
        })
    };
    tx.query(sql, params![question.user, question.limit]).await?.iter().map(read).collect()
}

async fn forget(tx: &mut dyn Tx, command: &Forget) -> Result<u64> {
    // What was done before a moment was made before it too, so its id is below that moment's.
    let published = "delete from outbox where id in
                       (select id from outbox
                         where id < $3 and status = 'PUBLISHED' and published_at < $1
                         order by id limit $2)";
    let processed = "delete from processed_messages where (message_id, consumer) in
                       (select message_id, consumer from processed_messages
                         where message_id < $3 and processed_at < $1
                         order by message_id limit $2)";
    let mut n_forgotten = 0;
    for (sql, before) in [(published, command.published_before), (processed, command.done_before)] {
        n_forgotten += tx.execute(sql, params![before, command.limit, first_at(before)]).await?;
    }
    // A letter that left the house is remembered as long as its message: it must not leave twice.
    let done = [
        "delete from notifications where (message_id, channel, recipient) in
           (select message_id, channel, recipient from notifications
             where status in ('SENT', 'FAILED', 'UNKNOWN') and updated_at < $1 limit $2)",
        "delete from dead_letters where id in
           (select id from dead_letters
             where status in ('REPLAYED', 'DROPPED') and updated_at < $1 limit $2)",
        "delete from webhook_deliveries where id in
           (select id from webhook_deliveries
             where status <> 'PENDING' and updated_at < $1 limit $2)",
    ];
    for sql in done {
        n_forgotten += tx.execute(sql, params![command.done_before, command.limit]).await?;
    }
    Ok(n_forgotten)
}

async fn backlog(tx: &mut dyn Tx, _: &CountBacklog) -> Result<Backlog> {
    let sql = "select count(*), min(created_at) from outbox where status = 'PENDING'";
    let dead = "select count(*) from dead_letters where status in ('OPEN', 'REPLAY')";
    let pending = tx.row(sql, &[]).await?;
    let dead = tx.row(dead, &[]).await?;
    let (pending, oldest_pending_at) = match pending {
        Some(row) => (row.get(0)?, row.get(1)?),
        None => (0, None),
    };
    let dead = dead.map(|row| row.get(0)).transpose()?.unwrap_or(0);
    Ok(Backlog { pending, dead, oldest_pending_at })
}
