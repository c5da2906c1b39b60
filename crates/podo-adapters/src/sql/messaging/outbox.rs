//! The outbox: messages are written in the transaction of the change that they announce.

use crate::sql::engine::tx::{Guard, Tx};
use crate::sql::engine::value::params;
use podo_app::Result;
use podo_app::operations::traces::current;
use podo_domain::Timestamp;
use podo_domain::messaging::messages::MessageKind;
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};
use uuid::Uuid;

/// How many messages this process has written or reactivated.
static N_PUSHED: AtomicU64 = AtomicU64::new(0);

/// Compare before and after a command: a command that wrote a message always changes it, though
/// another command may have changed it too.
pub(crate) fn n_pushed() -> u64 {
    N_PUSHED.load(Ordering::SeqCst)
}

/// Records that this transaction leaves something to publish.
pub(crate) fn note_pushed() {
    N_PUSHED.fetch_add(1, Ordering::SeqCst);
}

/// A message to insert into the outbox.
pub(crate) struct Outgoing<'m, P> {
    pub(crate) kind: MessageKind,
    pub(crate) aggregate: Uuid,
    /// Numbers the aggregate's messages from 1, without gaps.
    pub(crate) seq: i64,
    /// Messages with the same key keep their order on the bus.
    pub(crate) key: Uuid,
    pub(crate) payload: &'m P,
}

pub(crate) async fn push<P: Serialize + Sync>(
    tx: &mut dyn Tx,
    message: Outgoing<'_, P>,
    now: Timestamp,
) -> Result<()> {
    let sql = "insert into outbox
                 (id, aggregate_id, seq, topic, kind, key, payload, status, next_at, created_at,
                  trace)
               values ($1, $2, $3, $4, $5, $6, $7, 'PENDING', $8, $8, $9)";
    if !tx.has(Guard::MessageIsWritten) {
        return Ok(());
    }
    note_pushed();
    let payload = serde_json::to_string(message.payload).map_err(podo_app::Error::broken)?;
    let id = tx.rng().id(now);
    let values = params![
        id,
        message.aggregate,
        message.seq,
        message.kind.topic().as_str(),
        message.kind.as_str(),
        message.key,
        payload,
        now,
        current().map(|trace| trace.to_string())
    ];
    Ok(tx.add(sql, vec![values.to_vec()]).await?)
}
