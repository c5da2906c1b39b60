//! Payment companies.

use super::payments::{AskGateway, Checkout, DueRefund};
use crate::error::Result;
use async_trait::async_trait;
use domain::payments::Outcome;
use domain::{PaymentId, Refusal, Timestamp, UserId, Won};

/// What a fan is about to pay for.
#[derive(Clone, Copy, Debug)]
pub struct Order<'o> {
    pub payment: PaymentId,
    pub amount: Won,
    pub name: &'o str,
    pub customer: UserId,
}

/// What a gateway answered, and what of it may be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    pub outcome: Outcome,
    /// JSON of allow-listed fields.
    pub answer: Option<String>,
    /// The gateway's name for the charge, when refunds go by another than the approval.
    pub reference: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefundOutcome {
    Refunded,
    /// Not yet, or not known: try again with the same id.
    Later {
        why: String,
    },
}

/// What a gateway's own book says of a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Booked {
    pub captured: Won,
    pub refunded: Won,
}

/// What came to our webhook.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'d> {
    pub headers: &'d [(String, String)],
    pub body: &'d [u8],
    pub now: Timestamp,
}

/// A webhook proves nothing: it names a payment that is worth asking about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The same for every delivery of one event.
    pub id: String,
    pub kind: String,
    /// `None` for events that do not concern us.
    pub payment: Option<PaymentId>,
}

/// What the gateway's page sent back through the fan's browser. Nobody is charged yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Returned {
    pub payment: PaymentId,
    /// What the charge will be asked for with, or the code of the refusal.
    pub approval: std::result::Result<String, String>,
}

/// Every gateway keeps these rules:
/// - a call that may have charged and was not answered is `Unknown`, never "declined";
/// - our ids are the idempotency keys where a gateway has such: asking twice charges once;
/// - `void` answers `NotCaptured` only when it is certain that nothing was and will be charged.
#[async_trait]
pub trait Gateway: Send + Sync {
    fn name(&self) -> &'static str;

    /// What the fan's browser needs to approve the payment.
    fn checkout(&self, order: &Order<'_>) -> Checkout;

    /// Tells the gateway what the order costs before a browser can say something else.
    async fn prepare(&self, _order: &Order<'_>, _now: Timestamp) -> Result<()> {
        Ok(())
    }

    /// Charges what the fan approved.
    async fn capture(&self, ask: &AskGateway, now: Timestamp) -> Answered;

    /// What the gateway knows of our payment.
    async fn find(&self, ask: &AskGateway, now: Timestamp) -> Answered;

    /// Makes sure that nothing is or will be charged, or says that it was.
    async fn void(&self, ask: &AskGateway, now: Timestamp) -> Answered;

    /// Gives money back. The caller has asked the book before, and sends it again only when the book
    /// has not moved.
    async fn refund(&self, refund: &DueRefund, now: Timestamp) -> RefundOutcome;

    /// The gateway's book; `None` when it cannot be read.
    async fn booked(&self, ask: &AskGateway, now: Timestamp) -> Option<Booked>;

    /// Reads a webhook. Refusals: `WebhookInvalid`, `UnknownGateway`.
    fn read_webhook(&self, _delivery: &Delivery<'_>) -> std::result::Result<Hint, Refusal> {
        Err(Refusal::UnknownGateway)
    }

    /// Reads what the browser brings back; `None` when it is nothing of ours.
    fn read_return(&self, _fields: &[(String, String)]) -> Option<Returned> {
        None
    }
}
