//! Idempotency keys: found at the start of a command, stored at its end, in one transaction.

use super::store::SqlStore;
use super::tx::{Guard, Tx, work};
use super::value::params;
use app::Result;
use app::ports::keys::{Answer, KeyUse, Keys, StoredAnswer};
use app::seals::sha256;
use async_trait::async_trait;
use domain::{Refusal, Timestamp, UserId};
use uuid::Uuid;

struct StoredAnswerOf(KeyUse);
work!(Sales: StoredAnswerOf => find_for_question, Option<StoredAnswer>);

struct ForgetKeys {
    before: Timestamp,
    limit: u32,
}
work!(Worker: ForgetKeys => forget, u64);

#[async_trait]
impl Keys for SqlStore {
    async fn stored_answer(&self, key: &KeyUse) -> Result<Option<StoredAnswer>> {
        self.read(StoredAnswerOf(key.clone())).await
    }

    async fn forget_keys(&self, before: Timestamp, limit: u32) -> Result<u64> {
        self.write(ForgetKeys { before, limit }).await
    }
}

async fn find_for_question(
    tx: &mut dyn Tx,
    question: &StoredAnswerOf,
) -> Result<Option<StoredAnswer>> {
    look(tx, &question.0).await
}

/// The answer this use got before, for a command that will store one if there is none. Repeats
/// that come at the same moment wait for each other, so that the second finds the first's answer
/// and not its own traces.
pub(super) async fn find(tx: &mut dyn Tx, key: &KeyUse) -> Result<Option<StoredAnswer>> {
    if !tx.has(Guard::KeyIsRemembered) {
        return Ok(None);
    }
    tx.lock(lock_of(key)).await?;
    look(tx, key).await
}

/// What repeats of one request have in common.
fn lock_of(key: &KeyUse) -> Uuid {
    let name = format!("{}/{}/{}", key.user, key.endpoint, key.key);
    let hash = sha256(name.as_bytes());
    Uuid::from_slice(&hash[..16]).expect("sixteen bytes are a UUID")
}

/// Another body under the same key, or a first use that is still under way, is refused.
async fn look(tx: &mut dyn Tx, key: &KeyUse) -> Result<Option<StoredAnswer>> {
    let sql = "select fingerprint, status, body from idempotency_keys
                where user_id = $1 and endpoint = $2 and key = $3";
    let found = tx.row(sql, params![key.user, key.endpoint, &key.key]).await?;
    let Some(row) = found else { return Ok(None) };
    if row.get::<Vec<u8>>(0)? != key.fingerprint {
        return Err(Refusal::KeyReused.into());
    }
    let status: Option<i64> = row.get(1)?;
    let status = status.ok_or(Refusal::KeyRunning)?;
    Ok(Some(StoredAnswer { status: u16::try_from(status).unwrap_or(500), body: row.get(2)? }))
}

/// What a key moved money for: a payment, a charge of a wallet or an entry of its ledger. The key lives
/// as long as that. Keys of commands that move no money have none, and live for three days.
pub(super) type Subject = Option<Uuid>;

/// Stores the answer of a command that is done.
pub(super) async fn store<T: Answer>(
    tx: &mut dyn Tx,
    (key, subject): (&KeyUse, Subject),
    answer: &T,
    now: Timestamp,
) -> Result<()> {
    let sql = "insert into idempotency_keys
                 (user_id, endpoint, key, fingerprint, status, body, created_at, subject_id)
               values ($1, $2, $3, $4, $5, $6, $7, $8)";
    if !tx.has(Guard::KeyIsRemembered) {
        return Ok(());
    }
    let body = serde_json::to_string(answer).map_err(app::Error::broken)?;
    let values =
        params![key.user, key.endpoint, &key.key, key.fingerprint, T::STATUS, body, now, subject];
    Ok(tx.add(sql, vec![values.to_vec()]).await?)
}

/// Marks a use as under way: its answer comes in a later transaction.
pub(super) async fn start(
    tx: &mut dyn Tx,
    key: &KeyUse,
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

/// Gives a use that is under way its answer.
pub(super) async fn complete(
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
