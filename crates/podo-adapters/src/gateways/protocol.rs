//! What all gateway protocols share: calls, replies, and a payment in the gateway's records.

use aws_lc_rs::digest::{Algorithm, digest};
#[cfg(test)]
use podo_app::payments::port::gateway::Device;
use podo_app::payments::port::gateway::{Delivery, Hint, Order, Returned};
use podo_app::payments::port::payments::{Checkout, DueRefund, GatewayQuery};
use podo_domain::payments::PaymentMethod;
use podo_domain::payments::deposits::{RefundAccount, VirtualAccount};
use podo_domain::{Currency, PaymentId, Refusal, Timestamp, Won};
use serde_json::{Map, Value};
use std::time::Duration;

/// A request to a gateway. It carries secrets, so it has no `Debug`.
pub struct Call {
    pub url: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Content,
    /// Whether a repeat is safe: it only reads, or carries the gateway's idempotency key.
    pub may_repeat: bool,
}

pub enum Content {
    /// A GET.
    None,
    Json(Value),
    Form(Vec<(&'static str, String)>),
}

/// The reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    pub text: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or(Value::Null)
    }

    pub(crate) fn is_ok(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// The meaning of a capture's reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CaptureReply {
    /// The reply is the charge itself.
    Charged(Book),
    /// A final refusal.
    Refused(String),
    /// The reply doesn't tell; query the gateway's records.
    Look,
    Unknown,
}

/// A payment in the gateway's records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Book {
    pub(super) state: State,
    /// The payment and the currency, of a gateway that is queried by ids of its own, which a browser
    /// brought: a charge for another order says nothing about ours.
    pub(super) subject: Option<(Option<PaymentId>, Option<Currency>)>,
    pub(super) captured: Won,
    pub(super) refunded: Won,
    /// Allow-listed fields, as JSON.
    pub(super) kept: Option<String>,
    pub(super) reference: Option<String>,
    /// What the fan paid with.
    pub(super) paid_with: Option<PaymentMethod>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    Captured,
    /// A virtual account is issued; `captured` is what has come to it.
    Awaiting(VirtualAccount),
    /// Final: nothing was charged, or all of it was refunded.
    Closed(String),
    /// It may still be charged.
    Open,
    /// The gateway doesn't know it.
    Missing,
    /// The reply is unintelligible.
    Unreadable,
}

impl Book {
    pub(super) fn is(state: State) -> Book {
        Book {
            state,
            subject: None,
            captured: Won::ZERO,
            refunded: Won::ZERO,
            kept: None,
            reference: None,
            paid_with: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refund {
    Made,
    Later(String),
    /// Refused with this code, perhaps because it was made before; query the gateway's records.
    Look(String),
}

/// The meaning of a void's reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Void {
    /// Nothing is charged or will be: it was voided now or before, or there is nothing to void.
    Done(&'static str),
    /// It can't be voided in its current state; query the gateway's records.
    Look,
    /// An error of theirs or ours: a retry may work.
    Again,
}

/// One gateway's protocol: requests out, replies in. It does no I/O, so recorded texts test all of
/// it.
pub(super) trait GatewayProtocol: Send + Sync + 'static {
    const NAME: &'static str;
    /// The timeout of a reply.
    const PATIENCE: Duration;
    const METHODS: &'static [PaymentMethod];
    /// Korean companies charge won only.
    const CURRENCIES: &'static [Currency] = &[Currency::Krw];

    /// Registers the order before a browser can change it.
    fn register(&self, _order: &Order<'_>) -> Option<Call> {
        None
    }

    /// What the browser needs. `registered` is the reply to `register`, null if there was none; the
    /// answer is `None` if the gateway didn't register the order.
    fn checkout(&self, order: &Order<'_>, registered: &Value) -> Option<Checkout>;

    /// `Err` for an approval that can't be valid, without a call.
    fn capture(&self, ask: &GatewayQuery, now: Timestamp) -> Result<Call, String>;

    fn read_capture(&self, ask: &GatewayQuery, reply: &Reply) -> CaptureReply;

    /// `None` if the gateway can't be queried with what we know.
    fn find(&self, ask: &GatewayQuery, now: Timestamp) -> Option<Call>;

    fn read_book(&self, reply: &Reply) -> Book;

    /// Requests that nothing be charged. `None` if there is no such call.
    fn void(&self, ask: &GatewayQuery, book: Option<&Book>, now: Timestamp) -> Option<Call>;

    fn read_void(&self, reply: &Reply) -> Void;

    /// A virtual account is refunded to `account`.
    fn refund(
        &self,
        refund: &DueRefund,
        account: Option<&RefundAccount>,
        now: Timestamp,
    ) -> Result<Call, String>;

    fn read_refund(&self, reply: &Reply) -> Refund;

    fn hint(&self, _delivery: &Delivery<'_>) -> Result<Hint, Refusal> {
        Err(Refusal::UnknownGateway)
    }

    fn returned(&self, _fields: &[(String, String)]) -> Option<Returned> {
        None
    }
}

/// Amounts come as numbers or as text.
pub(super) fn won(value: &Value) -> Option<Won> {
    let number = value.as_i64().or_else(|| value.as_str()?.trim().parse().ok());
    number.and_then(Won::new)
}

pub(crate) fn text<'v>(value: &'v Value, member: &str) -> &'v str {
    value[member].as_str().unwrap_or_default()
}

/// Keeps only these fields of a reply: never a card number, a name or an address.
pub(super) fn keep(value: &Value, fields: &[&str]) -> Option<String> {
    let mut kept = Map::new();
    for field in fields {
        let found = field.split('.').fold(value, |value, part| &value[part]);
        if !found.is_null() && !found.is_object() && !found.is_array() {
            kept.insert((*field).to_owned(), found.clone());
        }
    }
    (!kept.is_empty()).then(|| Value::Object(kept).to_string())
}

/// The pairs of a form.
pub(super) fn pairs(text: &str) -> Vec<(String, String)> {
    serde_urlencoded::from_str(text).unwrap_or_default()
}

/// A field of what a browser sent.
pub(super) fn field<'f>(fields: &'f [(String, String)], name: &str) -> Option<&'f str> {
    let found = fields.iter().find(|(key, _)| key == name);
    found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
}

pub(super) fn hex_digest(algorithm: &'static Algorithm, text: &str) -> String {
    let hash = digest(algorithm, text.as_bytes());
    hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// At most this many bytes of a name, cut between characters.
pub(super) fn cut(name: &str, bytes_max: usize) -> &str {
    let end = (0..=bytes_max.min(name.len())).rev().find(|end| name.is_char_boundary(*end));
    &name[..end.unwrap_or(0)]
}

/// An order of 50,000 won whose id ends with `c`.
#[cfg(test)]
pub(super) fn test_order(method: PaymentMethod, device: Device) -> Order<'static> {
    let (payment, customer) = (uuid::Uuid::from_u128(0xC), uuid::Uuid::from_u128(0xF));
    Order {
        payment: podo_domain::PaymentId::new(payment),
        amount: Won::new(50_000).unwrap_or(Won::ZERO),
        currency: Currency::Krw,
        name: "포도 콘서트",
        customer: podo_domain::UserId::new(customer),
        method,
        device,
        deposit_due: Some(Timestamp::from_ms(1_796_223_599_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_named_fields_are_kept_and_never_whole_objects() {
        let value = json!({ "a": 1, "card": { "number": "4330", "type": "x" }, "b": null });
        assert_eq!(
            keep(&value, &["a", "card", "card.type", "b"]).unwrap(),
            r#"{"a":1,"card.type":"x"}"#
        );
        assert_eq!(keep(&value, &["zzz"]), None);
    }

    #[test]
    fn a_name_is_cut_between_characters() {
        assert_eq!(cut("포도 콘서트", 7), "포도 ");
        assert_eq!(cut("포도", 40), "포도");
        assert_eq!(cut("포", 2), "");
    }
}
