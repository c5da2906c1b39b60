//! Gateway webhooks, stored before they are acted on.

use crate::error::Result;
use crate::payments::port::gateway::Hint;
use crate::payments::port::payments::GatewayQuery;
use async_trait::async_trait;
use podo_domain::payments::PaymentStatus;
use podo_domain::{PaymentId, Timestamp};

/// A payment or wallet charge that a gateway can be asked about.
#[derive(Clone, Debug)]
pub struct Subject {
    pub ask: GatewayQuery,
    pub status: PaymentStatus,
    /// A wallet charge instead of a payment for seats.
    pub is_charge: bool,
}

/// A stored webhook that hasn't been followed.
#[derive(Clone, Debug)]
pub struct StoredWebhook {
    pub gateway: String,
    pub id: String,
    pub payment: PaymentId,
}

#[async_trait]
pub trait Webhooks: Send + Sync {
    /// Stores a webhook about a payment or a charge that the gateway was asked to make; false for a
    /// duplicate. Anything else leaves no row, because the endpoint is public. A job follows it
    /// after `next_at`.
    async fn keep_webhook(
        &self,
        gateway: &'static str,
        hint: &Hint,
        next_at: Timestamp,
        now: Timestamp,
    ) -> Result<bool>;

    /// Deletes at most `limit` webhooks received before this moment; returns how many.
    async fn forget_webhooks(&self, before: Timestamp, limit: u32) -> Result<u64>;

    /// Webhooks to follow now; each is leased until `next_at`.
    async fn take_webhooks(
        &self,
        now: Timestamp,
        next_at: Timestamp,
        limit: u32,
    ) -> Result<Vec<StoredWebhook>>;

    async fn finish_webhook(&self, gateway: &str, id: &str, now: Timestamp) -> Result<()>;

    /// A payment or a wallet charge by its id.
    async fn subject(&self, payment: PaymentId) -> Result<Option<Subject>>;

    /// Stores what a gateway's page sent back, for a payment that hasn't been confirmed: the first
    /// one counts. False if there is no such payment.
    async fn keep_approval(
        &self,
        payment: PaymentId,
        gateway: &'static str,
        approval: String,
        now: Timestamp,
    ) -> Result<bool>;
}
