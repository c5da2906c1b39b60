//! Idempotency keys: looked up at the start of a command and stored at its end, in one transaction.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use podo_app::Result;
use podo_app::identity::keyring::sha256;
use podo_app::operations::port::idempotency::{
    IdempotencyKey, IdempotencyKeys, IdempotentAnswer, StoredAnswer,
};
use podo_domain::{Refusal, Timestamp, UserId};
use uuid::Uuid;

commands! {
    impl IdempotencyKeys for SqlStore {
        write forget_keys(ForgetKeys { before: Timestamp, limit: u32 }) -> u64 as Worker => forget;

        command StoredAnswerOf { key: IdempotencyKey }
            -> Option<StoredAnswer> as Sales => find_for_question;

        async fn stored_answer(&self, key: &IdempotencyKey) -> Result<Option<StoredAnswer>> {
            self.read(StoredAnswerOf { key: key.clone() }).await
        }
    }
}

async fn find_for_question(
    tx: &mut dyn Tx,
    question: &StoredAnswerOf,
) -> Result<Option<StoredAnswer>> {
    look(tx, &question.key).await
}

/// The stored answer of this key, for a command that will store one otherwise. Concurrent repeats
/// are serialised, so that the second finds the first's answer and not its side effects.
pub(crate) async fn find(tx: &mut dyn Tx, key: &IdempotencyKey) -> Result<Option<StoredAnswer>> {
    tx.lock(lock_of(key)).await?;
    look(tx, key).await
}

/// The lock that repeats of one request share.
fn lock_of(key: &IdempotencyKey) -> Uuid {
    let name = format!("{}/{}/{}", key.user, key.endpoint, key.key);
    let hash = sha256(name.as_bytes());
    Uuid::from_slice(&hash[..16]).expect("16 bytes are a UUID")
}

/// Refuses another body under the same key, and a first use that is still in progress.
async fn look(tx: &mut dyn Tx, key: &IdempotencyKey) -> Result<Option<StoredAnswer>> {
    let sql = "select fingerprint, status, body from idempotency_keys
                where user_id = $1 and endpoint = $2 and key = $3";
    let found = tx.row(sql, params![key.user, key.endpoint, &key.key]).await?;
    let Some(row) = found else { return Ok(None) };
    if row.get::<Vec<u8>>("fingerprint")? != key.fingerprint {
        return Err(Refusal::KeyReused.into());
    }
    let status: Option<i64> = row.get("status")?;
    let status = status.ok_or(Refusal::KeyRunning)?;
    Ok(Some(StoredAnswer { status: u16::try_from(status).unwrap_or(500), body: row.get("body")? }))
}

/// The money movement behind a key: a payment, a wallet charge or a ledger entry. The key is kept
/// as long as that. Keys of commands that move no money have none, and are kept for three days.
pub(crate) type Subject = Option<Uuid>;

/// Stores the answer of a finished command.
pub(crate) async fn store<T: IdempotentAnswer>(
    tx: &mut dyn Tx,
    key: &IdempotencyKey,
    subject: Subject,
    answer: &T,
    now: Timestamp,
) -> Result<()> {
    let sql = "insert into idempotency_keys
                 (user_id, endpoint, key, fingerprint, status, body, created_at, subject_id)
               values ($1, $2, $3, $4, $5, $6, $7, $8)";
    let body = serde_json::to_string(answer).map_err(podo_app::Error::broken)?;
    let values =
        params![key.user, key.endpoint, &key.key, key.fingerprint, T::STATUS, body, now, subject];
    Ok(tx.add(sql, vec![values.to_vec()]).await?)
}

/// Marks a key as in progress: its answer comes in a later transaction.
pub(crate) async fn start(
    tx: &mut dyn Tx,
    key: &IdempotencyKey,
    subject: Uuid,
    now: Timestamp,
) -> Result<()> {
    let sql = "insert into idempotency_keys
                 (user_id, endpoint, key, fingerprint, created_at, subject_id)
               values ($1, $2, $3, $4, $5, $6)";
    let values = params![key.user, key.endpoint, &key.key, key.fingerprint, now, subject];
    tx.execute(sql, values).await?;
    Ok(())
}

/// Stores the answer of a key in progress.
pub(crate) async fn complete(
    tx: &mut dyn Tx,
    user: UserId,
    endpoint: &str,
    key: &str,
    answer: StoredAnswer,
) -> Result<()> {
    let sql = "update idempotency_keys set status = $4, body = $5
                where user_id = $1 and endpoint = $2 and key = $3 and status is null";
    tx.execute(sql, params![user, endpoint, key, answer.status, answer.body]).await?;
    Ok(())
}

async fn forget(tx: &mut dyn Tx, command: &ForgetKeys) -> Result<u64> {
    let sql = "delete from idempotency_keys where (user_id, endpoint, key) in
                 (select user_id, endpoint, key from idempotency_keys
                   where created_at < $1 and subject_id is null and status is not null
                   limit $2)";
    Ok(tx.execute(sql, params![command.before, command.limit]).await?)
}
