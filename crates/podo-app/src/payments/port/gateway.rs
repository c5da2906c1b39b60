//! Payment gateways.

use crate::error::Result;
use crate::payments::port::payments::{Checkout, DueRefund, GatewayQuery};
use async_trait::async_trait;
use podo_domain::payments::deposits::RefundAccount;
use podo_domain::payments::{Outcome, PaymentMethod};
use podo_domain::{Currency, PaymentId, Refusal, Timestamp, UserId, Won};

/// The order that a fan is about to pay.
#[derive(Clone, Copy, Debug)]
pub struct Order<'o> {
    pub payment: PaymentId,
    pub amount: Won,
    pub currency: Currency,
    pub name: &'o str,
    pub customer: UserId,
    pub method: PaymentMethod,
    pub device: Device,
    /// Until when a deposit is awaited, for a virtual account.
    pub deposit_due: Option<Timestamp>,
}

/// Some gateways have another payment page for phones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    Desktop,
    Phone,
}

impl Device {
    /// By the browser's `User-Agent`. Mobile browsers say `Mobi`; Android's also on tablets, whose
    /// gateways' pages are the phone's too.
    pub fn of(user_agent: &str) -> Device {
        match ["Mobi", "Android", "iPhone", "iPad"].iter().any(|it| user_agent.contains(it)) {
            true => Device::Phone,
            false => Device::Desktop,
        }
    }
}

/// A gateway's answer, and the part of it that may be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    pub outcome: Outcome,
    /// JSON of allow-listed fields.
    pub answer: Option<String>,
    /// The gateway's id of the charge, if refunds use another id than the approval.
    pub reference: Option<String>,
    /// What the fan paid with, if the gateway says so and we know the method.
    pub paid_with: Option<PaymentMethod>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefundOutcome {
    Refunded,
    /// Not yet, or unknown: retry with the same id.
    Later {
        why: String,
    },
}

/// A payment in the gateway's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Booked {
    pub captured: Won,
    pub refunded: Won,
}

/// A request to our webhook.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'d> {
    pub headers: &'d [(String, String)],
    pub body: &'d [u8],
    pub now: Timestamp,
}

/// A webhook proves nothing; it names a payment to query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The same for every delivery of one event.
    pub id: String,
    pub kind: String,
    /// `None` for events that don't concern us.
    pub payment: Option<PaymentId>,
}

/// What the gateway's page returned through the fan's browser. Nothing is charged yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Returned {
    pub payment: PaymentId,
    /// The key to request the charge with, or the code of the refusal.
    pub approval: std::result::Result<String, String>,
}

/// Every gateway keeps these rules:
/// - a call that may have charged and wasn't answered is `Unknown`, never "declined";
/// - our ids are the idempotency keys where a gateway supports them: asking twice charges once;
/// - `void` answers `NotCaptured` only if it's certain that nothing was or will be charged.
#[async_trait]
pub trait Gateway: Send + Sync {
    fn name(&self) -> &'static str;

    /// The methods with which fans can pay through this gateway, if the contract includes them.
    fn methods(&self) -> &'static [PaymentMethod];

    /// The currencies that it charges.
    fn currencies(&self) -> &'static [Currency];

    /// What the fan's browser needs to approve the payment. Registers the amount where the gateway
    /// takes it, so that the browser can't change it.
    async fn checkout(&self, order: &Order<'_>, now: Timestamp) -> Result<Checkout>;

    /// Charges what the fan approved.
    async fn capture(&self, ask: &GatewayQuery, now: Timestamp) -> Answered;

    /// Queries the gateway about our payment.
    async fn find(&self, ask: &GatewayQuery, now: Timestamp) -> Answered;

    /// Makes sure that nothing is or will be charged, or reports that it was.
    async fn void(&self, ask: &GatewayQuery, now: Timestamp) -> Answered;

    /// Refunds. The caller has read the gateway's records first, and resends only if they haven't
    /// changed. A virtual account is refunded to `account`.
    async fn refund(
        &self,
        refund: &DueRefund,
        account: Option<&RefundAccount>,
        now: Timestamp,
    ) -> RefundOutcome;

    /// The payment in the gateway's records; `None` if they can't be read.
    async fn booked(&self, ask: &GatewayQuery, now: Timestamp) -> Option<Booked>;

    /// Reads a webhook. Refusals: `WebhookInvalid`, `UnknownGateway`.
    fn read_webhook(&self, _delivery: &Delivery<'_>) -> std::result::Result<Hint, Refusal> {
        Err(Refusal::UnknownGateway)
    }

    /// Reads what the browser brings back; `None` if it isn't ours.
    fn read_return(&self, _fields: &[(String, String)]) -> Option<Returned> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phones_and_tablets_are_known_by_what_their_browsers_say() {
        for phone in [
            "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Mobile/15E148 Safari",
            "Mozilla/5.0 (Linux; Android 16; SM-S931N) AppleWebKit/537.36 Chrome/142.0 Mobile Safari",
            "Mozilla/5.0 (Linux; Android 16; SM-X910) AppleWebKit/537.36 Chrome/142.0 Safari",
        ] {
            assert_eq!(Device::of(phone), Device::Phone, "{phone}");
        }
        for desktop in
            ["", "curl/8", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/142.0 Safari"]
        {
            assert_eq!(Device::of(desktop), Device::Desktop, "{desktop}");
        }
    }
}
