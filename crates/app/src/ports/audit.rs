//! The audit log: what organisers did and looked at.

use crate::error::Result;
use async_trait::async_trait;
use domain::{Timestamp, UserId};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// One entry of the chain.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditView {
    /// Counts up without gaps.
    pub seq: i64,
    pub actor_id: UserId,
    /// `event.open`, `wallet.adjust`, `read` …
    pub action: String,
    /// What it was done to.
    pub subject: String,
    pub details: Value,
    pub at: Timestamp,
}

/// Which entries are asked for, newest first.
#[derive(Clone, Debug)]
pub struct AuditAsk {
    pub actor: Option<UserId>,
    /// The whole action, or its beginning up to a dot.
    pub action: Option<String>,
    pub subject: Option<String>,
    pub from: Timestamp,
    pub to: Timestamp,
    /// Only entries with a smaller number.
    pub before: i64,
    pub limit: u32,
}

/// Something an organiser did that no other command records.
#[derive(Clone, Debug)]
pub struct AuditNote {
    pub actor: UserId,
    pub action: &'static str,
    pub subject: String,
    pub details: Value,
    pub now: Timestamp,
}

#[async_trait]
pub trait AuditLog: Send + Sync {
    async fn note(&self, note: AuditNote) -> Result<()>;

    async fn audit_entries(&self, asked: AuditAsk) -> Result<Vec<AuditView>>;
}
