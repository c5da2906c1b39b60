//! Payment companies.

use super::payments::{AskGateway, DueRefund};
use async_trait::async_trait;
use domain::payments::Outcome;
use domain::{PaymentId, Timestamp, Won};

/// What a gateway answered, and what of it may be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    pub outcome: Outcome,
    /// JSON of allow-listed fields.
    pub answer: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefundOutcome {
    Refunded,
    /// Not yet, or not known: try again with the same id.
    Later {
        why: String,
    },
}

/// Every gateway keeps these rules:
/// - a call that may have charged and was not answered is `Unknown`, never "declined";
/// - our ids are the idempotency keys: asking twice charges once and refunds once;
/// - `void` answers `NotCaptured` only when it is certain that nothing was and will be charged.
#[async_trait]
pub trait Gateway: Send + Sync {
    fn name(&self) -> &'static str;

    /// The page where the fan approves the payment.
    fn checkout_url(&self, payment: PaymentId, amount: Won) -> Option<String>;

    /// Charges what the fan approved.
    async fn capture(&self, ask: &AskGateway, now: Timestamp) -> Answered;

    /// What the gateway knows of our payment.
    async fn find(&self, ask: &AskGateway, now: Timestamp) -> Answered;

    /// Makes sure that nothing is or will be charged, or says that it was.
    async fn void(&self, ask: &AskGateway, now: Timestamp) -> Answered;

    async fn refund(&self, refund: &DueRefund, now: Timestamp) -> RefundOutcome;
}
