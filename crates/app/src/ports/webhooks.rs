//! What gateways tell us, kept before anything is done about it.

use super::gateway::Hint;
use super::payments::AskGateway;
use crate::error::Result;
use async_trait::async_trait;
use domain::payments::PaymentStatus;
use domain::{PaymentId, Timestamp};

/// What a gateway can be asked about.
#[derive(Clone, Debug)]
pub struct Subject {
    pub ask: AskGateway,
    pub status: PaymentStatus,
    /// A charge of a wallet instead of a payment for seats.
    pub is_charge: bool,
}

/// A webhook that was kept and not yet followed.
#[derive(Clone, Debug)]
pub struct Kept {
    pub gateway: String,
    pub id: String,
    pub payment: PaymentId,
}

#[async_trait]
pub trait Webhooks: Send + Sync {
    /// Keeps what a gateway told about a payment or a charge that it was asked to make; false when
    /// it told the same before. Anything else leaves no row, because anybody can post here. A job
    /// follows it after `next_at`.
    async fn keep_webhook(
        &self,
        gateway: &'static str,
        hint: &Hint,
        next_at: Timestamp,
        now: Timestamp,
    ) -> Result<bool>;

    /// Forgets at most `limit` webhooks that came before this moment; how many.
    async fn forget_webhooks(&self, before: Timestamp, limit: u32) -> Result<u64>;

    /// Webhooks to follow now; each is put off until `next_at`.
    async fn take_webhooks(
        &self,
        now: Timestamp,
        next_at: Timestamp,
        limit: u32,
    ) -> Result<Vec<Kept>>;

    async fn finish_webhook(&self, gateway: &str, id: &str, now: Timestamp) -> Result<()>;

    /// A payment or a wallet's charge by its id.
    async fn subject(&self, payment: PaymentId) -> Result<Option<Subject>>;

    /// Keeps what a gateway's page sent back, for a payment that nobody has confirmed: the first
    /// counts. False when there is none.
    async fn keep_approval(
        &self,
        payment: PaymentId,
        gateway: &'static str,
        approval: String,
        now: Timestamp,
    ) -> Result<bool>;
}
