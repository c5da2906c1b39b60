//! The audit log as organisers read it.

use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts;
use crate::identity::team::api_keys;
use crate::operations::port::audit::{AuditNote, AuditQuery, AuditView};
use crate::store::Page;
use podo_domain::UserId;
use serde_json::Value;

/// A page of entries, with the people who acted and those whom it was about.
pub async fn entries(context: &AppContext, asked: AuditQuery) -> Result<Page<AuditView>> {
    let limit = asked.limit;
    let mut rows = context.store.audit_entries(AuditQuery { limit: limit + 1, ..asked }).await?;
    let has_more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let keys = api_keys::names(context).await?;
    let actors = accounts::hints(context, rows.iter().map(|row| row.actor_id)).await?;
    let subjects = rows.iter().map(|row| row.subject.as_str());
    let behind = accounts::people_behind(context, subjects).await?;
    for row in &mut rows {
        row.actor_key = keys.get(&row.actor_id).cloned();
        row.actor = actors.get(&row.actor_id).cloned();
        row.about = behind.of(&row.subject);
    }
    let next_cursor = rows.last().map(|row| row.seq.to_string()).filter(|_| has_more);
    Ok(Page { items: rows, next_cursor })
}

/// Records that an organiser reads personal data (`read`) or requests a change (`call`), before it
/// happens. A successful change writes an entry of its own as well.
pub async fn note_call(
    context: &AppContext,
    actor: UserId,
    action: &'static str,
    subject: String,
    details: Value,
) -> Result<()> {
    let note = AuditNote { actor, action, subject, details, now: context.now() };
    context.store.note(note).await
}
