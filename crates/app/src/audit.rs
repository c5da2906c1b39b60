//! The audit log as organisers read it.

use crate::error::Result;
use crate::paging::Page;
use crate::platform::Platform;
use crate::ports::audit::{AuditAsk, AuditNote, AuditView};
use domain::UserId;
use serde_json::Value;

/// A page of entries, newest first.
pub async fn entries(platform: &Platform, asked: AuditAsk) -> Result<Page<AuditView>> {
    let limit = asked.limit;
    let mut rows = platform.store.audit_entries(AuditAsk { limit: limit + 1, ..asked }).await?;
    let has_more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let next_cursor = rows.last().map(|row| row.seq.to_string()).filter(|_| has_more);
    Ok(Page { items: rows, next_cursor })
}

/// Notes that an organiser looks at something personal (`read`) or asks for a change (`call`), before
/// it happens. A change that happens leaves an entry of its own beside it.
pub async fn note_call(
    platform: &Platform,
    actor: UserId,
    action: &'static str,
    subject: String,
    details: Value,
) -> Result<()> {
    let note = AuditNote { actor, action, subject, details, now: platform.now() };
    platform.store.note(note).await
}
