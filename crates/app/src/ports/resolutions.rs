//! Payments and refunds that an organiser ends by hand, with the evidence.

use super::keys::{Answer, KeyUse, Once};
use super::payments::{RefundView, Settled};
use super::refunds::SecondNeeded;
use crate::error::Result;
use async_trait::async_trait;
use domain::payments::PaymentStatus;
use domain::resolutions::Verdict;
use domain::{PaymentId, RefundId, ReservationId, Timestamp, UserId, Won};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Clone, Debug)]
pub struct ResolvePayment {
    pub key: KeyUse,
    pub actor: UserId,
    pub payment: PaymentId,
    pub verdict: Verdict,
    /// What was charged; what was asked for when left out.
    pub amount: Option<Won>,
    pub evidence: String,
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub struct ResolveRefund {
    pub key: KeyUse,
    pub actor: UserId,
    pub payment: PaymentId,
    pub refund: RefundId,
    pub evidence: String,
    pub now: Timestamp,
}

/// How it stands after an organiser ended something by hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Resolved {
    pub payment_id: PaymentId,
    pub status: PaymentStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refund_id: Option<RefundId>,
}

impl Answer for Resolved {
    const STATUS: u16 = 200;
}

#[derive(Clone, Debug)]
pub enum Resolution {
    /// `settled` is what the live engines must hear of.
    Done {
        resolved: Resolved,
        settled: Option<Settled>,
    },
    SecondNeeded(SecondNeeded),
}

/// A payment with what stands in the way of its end, for organisers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaymentCase {
    pub id: PaymentId,
    /// Absent for money on its way into a wallet.
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
    /// Why asking about it failed the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// Whether an organiser may end it by hand now.
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
    /// An organiser ended it by hand; this is why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    pub can_resolve: bool,
}

#[async_trait]
pub trait Resolutions: Send + Sync {
    /// Ends a payment, or money on its way into a wallet, as if the gateway had said so. Beyond
    /// what one organiser moves alone, the first call only asks for a second organiser's. Refusals: `NotFound`, `NotStuck`,
    /// `PaymentRunning`.
    async fn resolve_payment(&self, command: ResolvePayment) -> Result<Once<Resolution>>;

    /// Counts a refund as made. Refusals: as above.
    async fn resolve_refund(&self, command: ResolveRefund) -> Result<Once<Resolution>>;

    async fn payment_case(&self, payment: PaymentId, now: Timestamp)
    -> Result<Option<PaymentCase>>;
}
