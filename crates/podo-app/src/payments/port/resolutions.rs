//! Payments and refunds that an organiser resolves by hand, with evidence.

use crate::error::Result;
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent, IdempotentAnswer};
use crate::payments::port::payments::{RefundView, Settled};
use crate::payments::port::refunds::SecondNeeded;
use async_trait::async_trait;
use podo_domain::payments::PaymentStatus;
use podo_domain::payments::resolutions::Verdict;
use podo_domain::{PaymentId, RefundId, ReservationId, Timestamp, UserId, Won};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Clone, Debug)]
pub struct ResolvePayment {
    pub key: IdempotencyKey,
    pub actor: UserId,
    pub payment: PaymentId,
    pub verdict: Verdict,
    /// The charged amount; the requested amount if absent.
    pub amount: Option<Won>,
    pub evidence: String,
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub struct ResolveRefund {
    pub key: IdempotencyKey,
    pub actor: UserId,
    pub payment: PaymentId,
    pub refund: RefundId,
    pub evidence: String,
    pub now: Timestamp,
}

/// The state after an organiser resolved something by hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Resolved {
    pub payment_id: PaymentId,
    pub status: PaymentStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refund_id: Option<RefundId>,
}

impl IdempotentAnswer for Resolved {
    const STATUS: u16 = 200;
}

#[derive(Clone, Debug)]
pub enum Resolution {
    /// `settled` is what the live engines must learn.
    Done {
        resolved: Resolved,
        settled: Option<Settled>,
    },
    SecondNeeded(SecondNeeded),
}

/// A payment with what blocks its completion, for organisers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaymentCase {
    pub id: PaymentId,
    /// Absent for a wallet charge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reservation_id: Option<ReservationId>,
    pub user_id: UserId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<String>,
    pub status: PaymentStatus,
    pub amount: Won,
    pub captured: Won,
    pub refunded: Won,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_at: Option<Timestamp>,
    /// Why the last query failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// Whether an organiser can resolve it by hand now.
    pub can_resolve: bool,
    pub refunds: Vec<RefundCase>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefundCase {
    #[serde(flatten)]
    pub refund: RefundView,
    /// Refunds of one payment are made in this order.
    pub number: u32,
    pub attempts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// The evidence, if an organiser resolved it by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    pub can_resolve: bool,
}

#[async_trait]
pub trait Resolutions: Send + Sync {
    /// Resolves a payment or a wallet charge as if the gateway had answered. Above the limit for
    /// one organiser, the first call only requests a second organiser's approval. Refusals:
    /// `NotFound`, `NotStuck`, `PaymentRunning`.
    async fn resolve_payment(&self, command: ResolvePayment) -> Result<Idempotent<Resolution>>;

    /// Counts a refund as made. Refusals: as above.
    async fn resolve_refund(&self, command: ResolveRefund) -> Result<Idempotent<Resolution>>;

    async fn payment_case(&self, payment: PaymentId, now: Timestamp)
    -> Result<Option<PaymentCase>>;
}
