//! Stripe: `docs.stripe.com/api`, version 2024-06-20. A payment intent is authorized in the fan's
//! browser and captured by us, so no money moves before our own intent is stored.

mod webhooks;

use crate::gateways::protocol::{
    Book, Call, CaptureReply, Content, GatewayProtocol, Refund, Reply, State, Void, cut, field,
    keep, text, won,
};
use crate::gateways::settings::StripeSettings;
use podo_app::payments::port::gateway::{Delivery, Hint, Order, Returned};
use podo_app::payments::port::payments::{Checkout, DueRefund, GatewayQuery};
use podo_domain::payments::PaymentMethod;
use podo_domain::payments::deposits::RefundAccount;
use podo_domain::{Currency, PaymentId, Refusal, Timestamp, Won};
use serde_json::{Value, json};
use std::time::Duration;

const VERSION: &str = "2024-06-20";

const KEPT: &[&str] = &[
    "id",
    "status",
    "amount",
    "amount_received",
    "currency",
    "latest_charge.id",
    "latest_charge.amount_refunded",
    "latest_charge.payment_method_details.card.brand",
    "latest_charge.payment_method_details.card.country",
    "latest_charge.payment_method_details.card.wallet.type",
];

pub(super) struct Stripe {
    settings: StripeSettings,
    home: String,
}

impl Stripe {
    pub(super) fn new(settings: StripeSettings, home: &str) -> Stripe {
        Stripe { settings, home: home.to_owned() }
    }

    fn call(&self, path: &str, key: Option<String>, body: Content) -> Call {
        let login = format!("Bearer {}", self.settings.secret_key);
        let mut headers = vec![("authorization", login), ("stripe-version", VERSION.to_owned())];
        let may_repeat = key.is_some() || matches!(body, Content::None);
        headers.extend(key.map(|key| ("idempotency-key", key)));
        Call { url: format!("{}/v1/{path}", self.settings.url), headers, body, may_repeat }
    }
}

/// The id of a payment intent becomes part of a URL.
fn is_intent(id: &str) -> bool {
    id.strip_prefix("pi_").is_some_and(|rest| {
        (1..=200).contains(&rest.len())
            && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn intent_of(ask: &GatewayQuery) -> Option<&str> {
    ask.payment_key.as_deref().filter(|id| is_intent(id))
}

fn read_intent(value: &Value) -> Book {
    let received = won(&value["amount_received"]).unwrap_or(Won::ZERO);
    let charge = &value["latest_charge"];
    let refunded = won(&charge["amount_refunded"]).unwrap_or(Won::ZERO);
    let state = match text(value, "status") {
        // Without the charge nothing is known about refunds.
        "succeeded" if !charge.is_object() => State::Unreadable,
        "succeeded" if received == refunded => State::Closed("REFUNDED".to_owned()),
        "succeeded" => State::Captured,
        "canceled" => State::Closed("CANCELED".to_owned()),
        "requires_payment_method"
        | "requires_confirmation"
        | "requires_action"
        | "requires_capture"
        | "processing" => State::Open,
        _ => State::Unreadable,
    };
    let is_charged = text(value, "status") == "succeeded";
    let order = PaymentId::from_order_id(text(&value["metadata"], "order_id"));
    let currency = Currency::parse(&text(value, "currency").to_uppercase());
    Book {
        subject: Some((order, currency)),
        captured: received,
        refunded,
        kept: keep(value, KEPT),
        reference: value["id"].as_str().map(str::to_owned),
        paid_with: is_charged.then_some(PaymentMethod::Card),
        ..Book::is(state)
    }
}

/// The code of an error; its type if it has none.
fn error_of(value: &Value) -> &str {
    let error = &value["error"];
    [text(error, "code"), text(error, "type")].into_iter().find(|it| !it.is_empty()).unwrap_or("")
}

impl GatewayProtocol for Stripe {
    const NAME: &'static str = "stripe";
    const PATIENCE: Duration = Duration::from_secs(60);
    /// Apple Pay and Google Pay are cards in Stripe's form.
    const METHODS: &'static [PaymentMethod] = &[PaymentMethod::Card];
    const CURRENCIES: &'static [Currency] = &Currency::ALL;

    /// Creates the intent with its amount, which the browser can't change.
    fn register(&self, order: &Order<'_>) -> Option<Call> {
        let id = order.payment.order_id();
        let fields = vec![
            ("amount", order.amount.get().to_string()),
            ("currency", order.currency.as_str().to_lowercase()),
            ("capture_method", "manual".to_owned()),
            ("payment_method_types[0]", "card".to_owned()),
            ("description", cut(order.name, 200).to_owned()),
            ("metadata[order_id]", id.clone()),
        ];
        Some(self.call("payment_intents", Some(format!("{id}new")), Content::Form(fields)))
    }

    fn checkout(&self, order: &Order<'_>, registered: &Value) -> Option<Checkout> {
        let secret = Some(text(registered, "client_secret")).filter(|it| !it.is_empty())?;
        let id = order.payment.order_id();
        let data = json!({
            "scriptUrl": "https://js.stripe.com/v3/",
            "publishableKey": self.settings.publishable_key,
            "clientSecret": secret,
            "returnUrl": format!("{}/api/payment/return/stripe?orderId={id}", self.home),
        });
        Some(Checkout { gateway: Some(Self::NAME.into()), url: None, data: Some(data) })
    }

    fn capture(&self, ask: &GatewayQuery, _now: Timestamp) -> Result<Call, String> {
        let intent = intent_of(ask).ok_or("INVALID_PAYMENT_KEY")?;
        let fields = vec![
            ("amount_to_capture", ask.amount.get().to_string()),
            ("expand[0]", "latest_charge".to_owned()),
        ];
        let path = format!("payment_intents/{intent}/capture");
        Ok(self.call(&path, Some(ask.payment.order_id()), Content::Form(fields)))
    }

    fn read_capture(&self, ask: &GatewayQuery, reply: &Reply) -> CaptureReply {
        let value = reply.json();
        if reply.is_ok() {
            let book = read_intent(&value);
            let is_ours = book.subject == Some((Some(ask.payment), Some(ask.currency)));
            return match is_ours && book.state == State::Captured {
                true => CaptureReply::Charged(book),
                false => CaptureReply::Look,
            };
        }
        match (reply.status, error_of(&value)) {
            // The first request may have captured it, or the fan hasn't authorized it.
            (_, "payment_intent_unexpected_state" | "") => CaptureReply::Look,
            (401, code) => {
                tracing::error!(gateway = Self::NAME, code, "Gateway rejected our key");
                CaptureReply::Refused(code.to_owned())
            }
            (400 | 402 | 403 | 404, code) => CaptureReply::Refused(code.to_owned()),
            // A conflict, a rate limit, or an error of theirs.
            _ => CaptureReply::Look,
        }
    }

    /// By the id of the intent. The search by our own id is a minute behind; it decides only where no
    /// browser brought an id, and then nothing was captured either.
    fn find(&self, ask: &GatewayQuery, _now: Timestamp) -> Option<Call> {
        let path = match intent_of(ask) {
            Some(intent) => format!("payment_intents/{intent}?expand[]=latest_charge"),
            None => format!(
                "payment_intents/search?query=metadata%5B%27order_id%27%5D%3A%27{}%27\
                 &expand[]=data.latest_charge",
                ask.payment.order_id()
            ),
        };
        Some(self.call(&path, None, Content::None))
    }

    fn read_book(&self, reply: &Reply) -> Book {
        let value = reply.json();
        match (reply.status, error_of(&value), text(&value, "object")) {
            (404, "resource_missing", _) => Book::is(State::Missing),
            (200, _, "search_result") if value["data"][0].is_null() => Book::is(State::Missing),
            (200, _, "search_result") => read_intent(&value["data"][0]),
            (200, _, "payment_intent") => read_intent(&value),
            _ => Book::is(State::Unreadable),
        }
    }

    /// Without an idempotency key, under which an error would be the answer for a day: canceling twice
    /// is one cancellation.
    fn void(&self, ask: &GatewayQuery, book: Option<&Book>, _now: Timestamp) -> Option<Call> {
        let known = book.and_then(|book| book.reference.as_deref());
        let intent = known.filter(|id| is_intent(id)).or_else(|| intent_of(ask))?;
        let fields = vec![("cancellation_reason", "abandoned".to_owned())];
        let call =
            self.call(&format!("payment_intents/{intent}/cancel"), None, Content::Form(fields));
        Some(Call { may_repeat: true, ..call })
    }

    fn read_void(&self, reply: &Reply) -> Void {
        let value = reply.json();
        match error_of(&value) {
            _ if reply.is_ok() && text(&value, "status") == "canceled" => Void::Done("VOIDED"),
            _ if reply.is_ok() => Void::Look,
            "resource_missing" => Void::Done("NOT_FOUND"),
            // Captured, or canceled before: the record tells.
            "payment_intent_unexpected_state" => Void::Look,
            _ => Void::Again,
        }
    }

    fn refund(
        &self,
        refund: &DueRefund,
        _account: Option<&RefundAccount>,
        _now: Timestamp,
    ) -> Result<Call, String> {
        let intent = refund.payment_key.as_deref().filter(|id| is_intent(id));
        let intent = intent.ok_or("no payment intent")?;
        let key = refund.refund.uuid().simple().to_string();
        let fields = vec![
            ("payment_intent", intent.to_owned()),
            ("amount", refund.amount.get().to_string()),
            ("metadata[order_id]", refund.payment.order_id()),
            ("metadata[refund_id]", key.clone()),
        ];
        Ok(self.call("refunds", Some(key), Content::Form(fields)))
    }

    /// A pending refund is in the charge's `amount_refunded` already, and comes back from there if it
    /// fails at the bank.
    fn read_refund(&self, reply: &Reply) -> Refund {
        let value = reply.json();
        let code = error_of(&value);
        match text(&value, "status") {
            "succeeded" | "pending" if reply.is_ok() => Refund::Made,
            status if reply.is_ok() => Refund::Look(status.to_owned()),
            _ => match (reply.status, code) {
                (400, "charge_already_refunded" | "amount_too_large" | "invalid_request_error")
                | (500.., _) => Refund::Look(format!("{} {code}", reply.status)),
                _ => Refund::Later(format!("{} {code}", reply.status)),
            },
        }
    }

    fn hint(&self, delivery: &Delivery<'_>) -> Result<Hint, Refusal> {
        webhooks::verify(&self.settings.webhook_secrets, delivery)?;
        let value: Value =
            serde_json::from_slice(delivery.body).map_err(|_error| Refusal::WebhookInvalid)?;
        let id = Some(text(&value, "id")).filter(|id| !id.is_empty());
        let order = text(&value["data"]["object"]["metadata"], "order_id");
        Ok(Hint {
            id: cut(id.ok_or(Refusal::WebhookInvalid)?, 200).to_owned(),
            kind: cut(text(&value, "type"), 60).to_owned(),
            payment: PaymentId::from_order_id(order),
        })
    }

    fn returned(&self, fields: &[(String, String)]) -> Option<Returned> {
        let payment = PaymentId::from_order_id(field(fields, "orderId")?)?;
        let approval = match (field(fields, "payment_intent"), field(fields, "redirect_status")) {
            (Some(intent), status) if status != Some("failed") && is_intent(intent) => {
                Ok(intent.to_owned())
            }
            (_, status) => Err(status.unwrap_or("CANCELED").to_owned()),
        };
        Some(Returned { payment, approval })
    }
}

#[cfg(test)]
mod tests;
