//! A change that fans see: an entry in the audit log, and a message for the nodes that keep what was.

use super::super::audit::note;
use super::super::outbox::{self, Outgoing};
use super::super::tx::Tx;
use app::Result;
use domain::messages::MessageKind;
use domain::{Timestamp, UserId};
use serde_json::{Value, json};
use uuid::Uuid;

pub(in crate::sql) async fn note_told(
    tx: &mut dyn Tx,
    (actor, action): (UserId, &str),
    subject: Uuid,
    details: Value,
    now: Timestamp,
) -> Result<()> {
    note(tx, (actor, action), subject, details, now).await?;
    let message = Outgoing {
        kind: MessageKind::CatalogChanged,
        // Each stands alone: whoever hears one looks at what is there.
        aggregate: tx.chance().id(now),
        seq: 1,
        key: subject,
        payload: &json!({ "change": action, "subjectId": subject }),
    };
    outbox::push(tx, message, now).await
}
