//! The relay's view of the outbox, consumers' progress, and the mailbox.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, Value, first_at, params};
use crate::sql::messaging::{dead_letters, notifications};
use podo_app::Result;
use podo_app::messaging::envelope::encode;
use podo_app::messaging::port::dead_letters::{NewDeadLetter, RELAY};
use podo_app::messaging::port::messages::{Backlog, Consume, Message, Messages, Notification};
use podo_domain::messaging::messages::{
    ATTEMPTS_MAX, MessageKind, Topic, jittered_ms, publish_delay_ms,
};
use podo_domain::operations::backoff::backoff;
use podo_domain::{MessageId, Timestamp, UserId};
use std::time::Duration;

commands! {
    impl Messages for SqlStore {
        read due_messages(DueMessages { now: Timestamp, limit: u32 })
            -> Vec<Message> as Worker => due;
        write put_off_unreadable(PutOffUnreadable { now: Timestamp, limit: u32 })
            -> u64 as Worker => put_off_unreadable;
        write messages_published(Published { messages: Vec<MessageId>, now: Timestamp })
            -> () as Worker => published;
        write consume(ConsumeAll { commands: Vec<Consume> }) -> Vec<bool> as Worker => consume_all;
        read mailbox(MailboxOf { user: UserId, limit: u32 })
            -> Vec<Notification> as Sales or_replica => mailbox;
        write forget_messages(Forget {
            published_before: Timestamp, done_before: Timestamp, limit: u32,
        }) -> u64 as Worker => forget;
        read backlog(CountBacklog {}) -> Backlog as Worker => backlog;

        async fn written(&self) {
            self.wait_for_message().await;
        }

        async fn notify_others(&self) -> Result<()> {
            self.notify_other_processes().await
        }

        async fn listen(&self) -> Result<()> {
            self.listen_to_other_processes().await
        }

        command Failed { message: Message, error: String, now: Timestamp }
            -> () as Worker => failed;

        async fn message_failed(
            &self,
            message: &Message,
            error: String,
            now: Timestamp,
        ) -> Result<()> {
            self.write(Failed { message: message.clone(), error, now }).await
        }
    }
}

/// A message that waits for a retry holds back the later ones of its aggregate, which must not
/// arrive first. So does one whose id sorts after theirs, as happens when a clock steps back.
///
/// The condition for earlier messages is negated so that it doesn't match the partial index of
/// waiting messages: a planner that believes that index to be short would scan all of it for every
/// message.
async fn due(tx: &mut dyn Tx, question: &DueMessages) -> Result<Vec<Message>> {
    let rows = due_rows(tx, question.now, question.limit).await?;
    rows.iter().map(read).collect()
}

async fn due_rows(tx: &mut dyn Tx, now: Timestamp, limit: u32) -> Result<Vec<Row>> {
    let sql = "select o.id, o.aggregate_id, o.seq, o.topic, o.kind, o.key, o.payload, o.attempts,
                      o.created_at, o.trace
                 from outbox o
                where o.status = 'PENDING' and o.next_at <= $1
                  and not exists (select 1 from outbox p
                                   where p.aggregate_id = o.aggregate_id and p.seq < o.seq
                                     and p.status not in ('PUBLISHED', 'DEAD')
                                     and (p.next_at > $1 or p.id > o.id))
                order by o.id limit $2";
    // After an outage there are thousands of rows where the statistics show none.
    tx.follow_indexes().await?;
    Ok(tx.query(sql, params![now, limit]).await?)
}

async fn put_off_unreadable(tx: &mut dyn Tx, command: &PutOffUnreadable) -> Result<u64> {
    let sql = "update outbox set attempts = attempts + 1, last_error = $2, next_at = $3
                where id = $1 and status = 'PENDING'";
    let mut n_put_off = 0;
    for row in due_rows(tx, command.now, command.limit).await? {
        let Err(error) = read(&row) else { continue };
        let (id, attempts): (MessageId, u32) = (row.get("id")?, row.get("attempts")?);
        tracing::error!(message.id = %id, %error, "Message unreadable by this version");
        let next_at = command.now.plus(backoff(attempts + 1, tx.rng().number()));
        n_put_off += tx.execute(sql, params![id, error.to_string(), next_at]).await?;
    }
    Ok(n_put_off)
}

fn read(row: &Row) -> Result<Message> {
    Ok(Message {
        id: row.get("id")?,
        aggregate: row.get("aggregate_id")?,
        seq: row.get("seq")?,
        topic: row.parse("topic", Topic::parse)?,
        kind: row.parse("kind", MessageKind::parse)?,
        key: row.get("key")?,
        payload: row.get("payload")?,
        attempts: row.get("attempts")?,
        created_at: row.get("created_at")?,
        trace: row.get("trace")?,
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
    let attempts: u32 = row.get("attempts")?;
    if attempts >= ATTEMPTS_MAX {
        return die(tx, command, attempts).await;
    }
    let delay = jittered_ms(publish_delay_ms(attempts), tx.rng().number());
    let next_at = command.now.plus(Duration::from_millis(delay.unsigned_abs()));
    let later = "update outbox set next_at = $2 where id = $1";
    tx.execute(later, params![message.id, next_at]).await?;
    Ok(())
}

/// Dead-letters a message that can't be published. Later ones continue: their sequence numbers show
/// the gap.
async fn die(tx: &mut dyn Tx, command: &Failed, attempts: u32) -> Result<()> {
    let message = &command.message;
    let dead = "update outbox set status = 'DEAD' where id = $1";
    tx.execute(dead, params![message.id]).await?;
    let (key, body) = match encode(message) {
        Ok(envelope) => (envelope.key, String::from_utf8_lossy(&envelope.body).into_owned()),
        // Keep a message that can't be encoded as it is.
        Err(_) => (message.key.to_string(), message.payload.clone()),
    };
    let dead_letter = NewDeadLetter {
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
    dead_letters::insert(tx, &dead_letter).await?;
    Ok(())
}

/// Marks messages as processed by a consumer, in the transaction of their effect. Returns those
/// that it hadn't processed before.
pub(crate) async fn mark(
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

async fn consume_all(tx: &mut dyn Tx, ConsumeAll { commands }: &ConsumeAll) -> Result<Vec<bool>> {
    let sets = commands.iter().map(|it| params![it.message, it.consumer, it.now].to_vec());
    let is_new = mark_all(tx, sets.collect()).await?;
    let new = commands.iter().zip(&is_new).filter(|(_, is_new)| **is_new);
    deliver(tx, new.map(|(command, _)| command).collect()).await?;
    Ok(is_new)
}

async fn deliver(tx: &mut dyn Tx, commands: Vec<&Consume>) -> Result<()> {
    let sql = "insert into mailbox (message_id, channel, user_id, subject, body, created_at,
                                    reservation_id)
               values ($1, 'MAILBOX', $2, $3, $4, $5, $6)";
    let mut notifications = Vec::with_capacity(commands.len());
    for command in &commands {
        notifications.extend(command.notifications.iter().map(|notification| {
            let Notification { user, reservation, subject, body, created_at } = notification;
            params![command.message, *user, subject, body, *created_at, *reservation].to_vec()
        }));
    }
    tx.add(sql, notifications).await?;
    for command in commands {
        notifications::plan(tx, &command.notices, command.now).await?;
    }
    Ok(())
}

async fn mailbox(tx: &mut dyn Tx, question: &MailboxOf) -> Result<Vec<Notification>> {
    let sql = "select user_id, reservation_id, subject, body, created_at from mailbox
                where user_id = $1 order by created_at desc limit $2";
    let read = |row: &Row| {
        Ok(Notification {
            user: row.get("user_id")?,
            reservation: row.get("reservation_id")?,
            subject: row.get("subject")?,
            body: row.get("body")?,
            created_at: row.get("created_at")?,
        })
    };
    tx.query(sql, params![question.user, question.limit]).await?.iter().map(read).collect()
}

async fn forget(tx: &mut dyn Tx, command: &Forget) -> Result<u64> {
    // A message finished before a moment was also created before it, so its id is below that
    // moment's.
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
    // A sent notification is remembered as long as its message, so that it is never sent twice.
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
    let sql = "select count(*) as n_pending, min(created_at) as oldest_at
                 from outbox where status = 'PENDING'";
    let dead = "select count(*) as n_dead from dead_letters where status in ('OPEN', 'REPLAY')";
    let pending = tx.row(sql, &[]).await?;
    let dead = tx.row(dead, &[]).await?;
    let (pending, oldest_pending_at) = match pending {
        Some(row) => (row.get("n_pending")?, row.get("oldest_at")?),
        None => (0, None),
    };
    let dead = dead.map(|row| row.get("n_dead")).transpose()?.unwrap_or(0);
    Ok(Backlog { pending, dead, oldest_pending_at })
}
