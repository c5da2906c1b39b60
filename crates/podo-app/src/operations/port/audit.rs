//! The audit log: what organisers changed and read.

use crate::error::Result;
use crate::identity::accounts::PersonHint;
use crate::store::Order;
use async_trait::async_trait;
use podo_domain::{Timestamp, UserId};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// One entry of the hash chain.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditView {
    /// Consecutive, without gaps.
    pub seq: i64,
    pub actor_id: UserId,
    /// The name of the API key that acted; absent for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor_key: Option<String>,
    /// The person who acted; absent for keys and deleted accounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<PersonHint>,
    /// The person whose account, booking or payment is the object of the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<PersonHint>,
    /// `event.open`, `wallet.adjust`, `read` …
    pub action: String,
    /// The object of the action.
    pub subject: String,
    pub details: Value,
    pub at: Timestamp,
}

/// Selects entries.
#[derive(Clone, Debug)]
pub struct AuditQuery {
    pub actor: Option<UserId>,
    /// The full action, or its prefix up to a dot.
    pub action: Option<String>,
    pub subject: Option<String>,
    pub from: Timestamp,
    pub to: Timestamp,
    pub order: Order,
    /// Only entries beyond this number, in this order.
    pub cursor: Option<i64>,
    pub limit: u32,
}

/// An action of an organiser that no other command records.
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

    async fn audit_entries(&self, asked: AuditQuery) -> Result<Vec<AuditView>>;
}
