//! Messages are written in the transaction that makes them true.

use super::tx::{Guard, Tx};
use super::value::params;
use app::Result;
use app::traces::current;
use domain::Timestamp;
use domain::messages::MessageKind;
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};
use uuid::Uuid;

/// How many messages commands of this process have written or woken up.
static N_PUSHED: AtomicU64 = AtomicU64::new(0);

/// A command that finds this changed when it is done may have left a message; one that left a
/// message always finds it changed.
pub(super) fn n_pushed() -> u64 {
    N_PUSHED.load(Ordering::SeqCst)
}

/// There is something to publish once this transaction is done.
pub(super) fn note_pushed() {
    N_PUSHED.fetch_add(1, Ordering::SeqCst);
}

/// A message on its way into the outbox.
pub(super) struct Outgoing<'m, P> {
    pub(super) kind: MessageKind,
    pub(super) aggregate: Uuid,
    /// Counts the aggregate's messages from 1, without gaps.
    pub(super) seq: i64,
    /// Messages with one key keep their order on the bus.
    pub(super) key: Uuid,
    pub(super) payload: &'m P,
}

pub(super) async fn push<P: Serialize + Sync>(
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
    let payload = serde_json::to_string(message.payload).map_err(app::Error::broken)?;
    let id = tx.chance().id(now);
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
