//! The outbox: messages are written in the transaction of the change that they announce.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use podo_app::Result;
use podo_app::operations::traces::current;
use podo_domain::messaging::announcements::SecurityChange;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::{Timestamp, UserId};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

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

/// Announces that a credential of an account changed, so that its owner can object.
pub(crate) async fn security_changed(
    tx: &mut dyn Tx,
    user: UserId,
    change: SecurityChange,
    now: Timestamp,
) -> Result<()> {
    let message = Outgoing {
        kind: MessageKind::SecurityChanged,
        aggregate: tx.rng().id(now),
        seq: 1,
        key: user.uuid(),
        payload: &json!({ "userId": user, "change": change }),
    };
    push(tx, message, now).await
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
    tx.context().count_message();
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
