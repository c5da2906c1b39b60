//! A change that fans see: an audit entry, and a message that invalidates the nodes' caches.

use crate::sql::engine::tx::Tx;
use crate::sql::messaging::outbox;
use crate::sql::messaging::outbox::Outgoing;
use crate::sql::operations::audit::note;
use podo_app::Result;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::{Timestamp, UserId};
use serde_json::{Value, json};
use uuid::Uuid;

pub(crate) async fn announce_change(
    tx: &mut dyn Tx,
    actor: UserId,
    action: &str,
    subject: Uuid,
    details: Value,
    now: Timestamp,
) -> Result<()> {
    note(tx, actor, action, subject, details, now).await?;
    let message = Outgoing {
        kind: MessageKind::CatalogChanged,
        // Each message has an aggregate of its own: consumers reload the current state, so order is
        // irrelevant.
        aggregate: tx.rng().id(now),
        seq: 1,
        key: subject,
        payload: &json!({ "change": action, "subjectId": subject }),
    };
    outbox::push(tx, message, now).await
}
