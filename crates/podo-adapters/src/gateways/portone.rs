//! PortOne V2 with manual confirmation: `developers.portone.io`, API 1.16.

use crate::gateways::accounts;
use crate::gateways::protocol::{
    Book, Call, CaptureReply, Content, GatewayProtocol, Refund, Reply, State, Void, cut, field,
    keep, text, won,
};
use crate::gateways::settings::PortOneSettings;
use crate::gateways::webhooks;
use podo_app::payments::port::gateway::{Delivery, Hint, Order, Returned};
use podo_app::payments::port::payments::{Checkout, DueRefund, GatewayQuery};
use podo_domain::payments::PaymentMethod;
use podo_domain::payments::deposits::RefundAccount;
use podo_domain::{PaymentId, Refusal, Timestamp, Won};
use serde_json::{Value, json};
use std::time::Duration;

const KEPT: &[&str] = &[
    "id",
    "transactionId",
    "pgTxId",
    "status",
    "paidAt",
    "cancelledAt",
    "currency",
    "channel.type",
    "channel.pgProvider",
    "method.type",
    "method.provider",
    "method.bank",
    "method.expiredAt",
    "amount.total",
    "amount.paid",
    "amount.cancelled",
    "type",
    "pgCode",
];

pub(super) struct PortOne {
    settings: PortOneSettings,
    home: String,
}

impl PortOne {
    pub(super) fn new(settings: PortOneSettings, home: &str) -> PortOne {
        PortOne { settings, home: home.to_owned() }
    }

    /// The key is a structured-field string, including the quotes, of at least 16 characters.
    fn call(&self, payment: PaymentId, path: &str, key: Option<String>, body: Content) -> Call {
        let mut headers = vec![("authorization", format!("PortOne {}", self.settings.secret))];
        let may_repeat = key.is_some() || matches!(body, Content::None);
        headers.extend(key.map(|key| ("idempotency-key", format!("\"{key}\""))));
        let url = format!("{}/payments/{}{path}", self.settings.url, payment.order_id());
        Call { url, headers, body, may_repeat }
    }

    fn read_payment(&self, value: &Value) -> Book {
        let amount = &value["amount"];
        let total = won(&amount["total"]).unwrap_or(Won::ZERO);
        let status = text(value, "status");
        let is_foreign = !["", "KRW", "CURRENCY_KRW"].contains(&text(value, "currency"));
        let is_test = text(&value["channel"], "type") == "TEST";
        let state = match status {
            "PAID" | "PARTIAL_CANCELLED" if is_foreign || is_test != self.settings.is_test => {
                tracing::error!(
                    gateway = Self::NAME,
                    payment = text(value, "id"),
                    "Payment has an unexpected currency or channel type"
                );
                State::Unreadable
            }
            "PAID" | "PARTIAL_CANCELLED" => State::Captured,
            "FAILED" | "CANCELLED" => State::Closed(status.to_owned()),
            "VIRTUAL_ACCOUNT_ISSUED" => accounts::of_portone(&value["method"]),
            "READY" | "PENDING" | "PAY_PENDING" => State::Open,
            _ => State::Unreadable,
        };
        let refunded = won(&amount["cancelled"]).unwrap_or(Won::ZERO);
        let was_charged = match status {
            "PAID" | "PARTIAL_CANCELLED" => true,
            // An account that was closed before its deposit has nothing to give back.
            "CANCELLED" => {
                let is_account = text(&value["method"], "type") == ACCOUNT;
                !is_account || !refunded.is_zero()
            }
            _ => false,
        };
        Book {
            captured: if was_charged { total } else { Won::ZERO },
            refunded,
            kept: keep(value, KEPT),
            paid_with: paid_with(&value["method"]),
            ..Book::is(state)
        }
    }
}

/// How replies name a virtual account.
const ACCOUNT: &str = "PaymentMethodVirtualAccount";

const fn easy_pay_of(method: PaymentMethod) -> Option<&'static str> {
    match method {
        PaymentMethod::KakaoPay => Some("KAKAOPAY"),
        PaymentMethod::NaverPay => Some("NAVERPAY"),
        PaymentMethod::TossPay => Some("TOSSPAY"),
        PaymentMethod::Payco => Some("PAYCO"),
        PaymentMethod::SamsungPay => Some("SAMSUNGPAY"),
        PaymentMethod::Card
        | PaymentMethod::Transfer
        | PaymentMethod::VirtualAccount
        | PaymentMethod::Wallet
        | PaymentMethod::BoxOffice => None,
    }
}

fn paid_with(method: &Value) -> Option<PaymentMethod> {
    match text(method, "type") {
        "PaymentMethodCard" => Some(PaymentMethod::Card),
        "PaymentMethodTransfer" => Some(PaymentMethod::Transfer),
        ACCOUNT => Some(PaymentMethod::VirtualAccount),
        "PaymentMethodEasyPay" => {
            let provider = text(method, "provider");
            let mut all = PaymentMethod::ALL.into_iter();
            all.find(|method| easy_pay_of(*method) == Some(provider))
        }
        _ => None,
    }
}

impl GatewayProtocol for PortOne {
    const NAME: &'static str = "portone";
    /// They advise at least a minute: closing the connection doesn't stop the operation.
    const PATIENCE: Duration = Duration::from_secs(60);
    const METHODS: &'static [PaymentMethod] = &[
        PaymentMethod::Card,
        PaymentMethod::KakaoPay,
        PaymentMethod::NaverPay,
        PaymentMethod::TossPay,
        PaymentMethod::Payco,
        PaymentMethod::SamsungPay,
        PaymentMethod::Transfer,
        PaymentMethod::VirtualAccount,
    ];

    fn checkout(&self, order: &Order<'_>, _registered: &Value) -> Option<Checkout> {
        let easy_pay = easy_pay_of(order.method);
        let method = match (order.method, easy_pay) {
            (_, Some(_)) => "EASY_PAY",
            (PaymentMethod::Transfer, None) => "TRANSFER",
            (PaymentMethod::VirtualAccount, None) => "VIRTUAL_ACCOUNT",
            (_, None) => "CARD",
        };
        let mut data = json!({
            "scriptUrl": "https://cdn.portone.io/v2/browser-sdk.js",
            "storeId": self.settings.store_id,
            "channelKey": self.settings.channel_key,
            "paymentId": order.payment.order_id(),
            "orderName": cut(order.name, 40),
            "totalAmount": order.amount,
            "currency": "CURRENCY_KRW",
            "payMethod": method,
            "redirectUrl": format!("{}/api/payment/return/portone", self.home),
            "forceRedirect": true,
        });
        if let Some(provider) = easy_pay {
            let provider = format!("EASY_PAY_PROVIDER_{provider}");
            data["easyPay"] = json!({ "easyPayProvider": provider });
        }
        if let Some(due_at) = order.deposit_due {
            data["virtualAccount"] = json!({ "accountExpiry": { "dueDate": due_at } });
        }
        Some(Checkout { gateway: Some(Self::NAME.into()), url: None, data: Some(data) })
    }

    fn register(&self, order: &Order<'_>) -> Option<Call> {
        let body = json!({
            "storeId": self.settings.store_id, "totalAmount": order.amount, "currency": "KRW",
        });
        let key = format!("{}prepare", order.payment.order_id());
        Some(self.call(order.payment, "/pre-register", Some(key), Content::Json(body)))
    }

    fn capture(&self, ask: &GatewayQuery, _now: Timestamp) -> Result<Call, String> {
        let token = ask.payment_key.as_deref().ok_or("INVALID_PAYMENT_TOKEN")?;
        let body = json!({
            "paymentToken": token, "currency": "KRW", "totalAmount": ask.amount,
            "isTest": self.settings.is_test,
        });
        let key = ask.payment.order_id();
        Ok(self.call(ask.payment, "/confirm", Some(key), Content::Json(body)))
    }

    fn read_capture(&self, _ask: &GatewayQuery, reply: &Reply) -> CaptureReply {
        let value = reply.json();
        let kind = text(&value, "type");
        match reply.status {
            400 | 403 | 404 if !kind.is_empty() => CaptureReply::Refused(kind.to_owned()),
            401 => {
                tracing::error!(gateway = Self::NAME, kind, "Gateway rejected our secret");
                CaptureReply::Refused("UNAUTHORIZED".into())
            }
            409 if kind == "INFORMATION_MISMATCH" => CaptureReply::Refused(kind.to_owned()),
            // The reply to a capture has no amount; their records show what was paid, and whether
            // the card company gave a final refusal.
            _ => CaptureReply::Look,
        }
    }

    fn find(&self, ask: &GatewayQuery, _now: Timestamp) -> Option<Call> {
        let path = format!("?storeId={}", self.settings.store_id);
        Some(self.call(ask.payment, &path, None, Content::None))
    }

    fn read_book(&self, reply: &Reply) -> Book {
        let value = reply.json();
        match reply.status {
            404 if text(&value, "type") == "PAYMENT_NOT_FOUND" => Book::is(State::Missing),
            _ if reply.is_ok() => self.read_payment(&value),
            _ => Book::is(State::Unreadable),
        }
    }

    /// An account is closed instead.
    fn void(&self, ask: &GatewayQuery, book: Option<&Book>, _now: Timestamp) -> Option<Call> {
        if matches!(book.map(|book| &book.state), Some(State::Awaiting(_))) {
            let path = format!("/virtual-account/close?storeId={}", self.settings.store_id);
            return Some(self.call(ask.payment, &path, None, Content::Json(json!({}))));
        }
        let body = json!({ "storeId": self.settings.store_id, "reason": "VOID" });
        let key = format!("{}void", ask.payment.order_id());
        Some(self.call(ask.payment, "/cancel", Some(key), Content::Json(body)))
    }

    /// Without our token nothing was charged or will be, so there is nothing to cancel.
    fn read_void(&self, reply: &Reply) -> Void {
        let value = reply.json();
        match (reply.status, text(&value["cancellation"], "status"), text(&value, "type")) {
            (200..=299, "SUCCEEDED", _) => Void::Done("VOIDED"),
            (200..=299, _, _) if value["closedAt"].is_string() => Void::Done("VOIDED"),
            // Requested isn't completed: their records will show it.
            (200..=299, _, _) => Void::Look,
            (404, _, "PAYMENT_NOT_FOUND") => Void::Done("NOT_FOUND"),
            (409, _, "PAYMENT_NOT_PAID") => Void::Done("NOT_PAID"),
            (409, _, "PAYMENT_ALREADY_CANCELLED") => Void::Done("ALREADY_CANCELED"),
            (409, _, kind) if !kind.starts_with("IDEMPOTEN") => Void::Look,
            _ => Void::Again,
        }
    }

    fn refund(
        &self,
        refund: &DueRefund,
        account: Option<&RefundAccount>,
        _now: Timestamp,
    ) -> Result<Call, String> {
        let left = refund.left_before();
        let mut body = json!({
            "storeId": self.settings.store_id,
            "reason": cut(&refund.reason, 200),
            "amount": refund.amount,
            // They refuse if a concurrent cancellation came first.
            "currentCancellableAmount": left.ok_or("more went back than came")?,
            "requester": "CUSTOMER",
        });
        if refund.method == PaymentMethod::VirtualAccount {
            let account = account.ok_or("no account to refund to")?;
            body["refundAccount"] = json!({
                "bank": account.bank,
                "number": account.number,
                "holderName": account.holder.as_str(),
            });
        }
        let key = refund.refund.uuid().simple().to_string();
        Ok(self.call(refund.payment, "/cancel", Some(key), Content::Json(body)))
    }

    fn read_refund(&self, reply: &Reply) -> Refund {
        let value = reply.json();
        let kind = text(&value, "type");
        match (reply.status, text(&value["cancellation"], "status")) {
            (200..=299, "SUCCEEDED") => Refund::Made,
            (200..=299, "FAILED") => Refund::Look("FAILED".to_owned()),
            // Requested isn't completed: their records will show it.
            (200..=299, status) => Refund::Later(status.to_owned()),
            (409, _) if !kind.starts_with("IDEMPOTEN") => Refund::Look(kind.to_owned()),
            (status, _) => Refund::Later(format!("{status} {kind}")),
        }
    }

    fn hint(&self, delivery: &Delivery<'_>) -> Result<Hint, Refusal> {
        let id = webhooks::verify(&self.settings.webhook_secrets, delivery)?;
        let value: Value =
            serde_json::from_slice(delivery.body).map_err(|_error| Refusal::WebhookInvalid)?;
        let kind = cut(text(&value, "type"), 60).to_owned();
        let payment = PaymentId::from_order_id(text(&value["data"], "paymentId"));
        let payment = payment.filter(|_| kind.starts_with("Transaction."));
        Ok(Hint { id: cut(id, 200).to_owned(), kind, payment })
    }

    fn returned(&self, fields: &[(String, String)]) -> Option<Returned> {
        let payment = PaymentId::from_order_id(field(fields, "paymentId")?)?;
        let approval = match (field(fields, "code"), field(fields, "paymentToken")) {
            (Some(code), _) => Err(code.to_owned()),
            (None, Some(token)) => Ok(token.to_owned()),
            // A channel that confirms by itself: their records show what was paid.
            (None, None) => Ok("CONFIRMED_BY_CHANNEL".to_owned()),
        };
        Some(Returned { payment, approval })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateways::protocol::test_order;
    use podo_app::payments::port::gateway::Device;
    use podo_domain::RefundId;
    use podo_domain::payments::refunds::InBook;
    use uuid::Uuid;

    fn portone() -> PortOne {
        let settings = PortOneSettings {
            url: "https://api.portone.io".into(),
            store_id: "store-1".into(),
            channel_key: "channel-key-1".into(),
            secret: "secret".into(),
            webhook_secrets: vec!["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".into()],
            is_test: true,
        };
        PortOne::new(settings, "https://podo.example")
    }

    fn ask() -> GatewayQuery {
        GatewayQuery {
            payment: PaymentId::new(Uuid::from_u128(0xB)),
            gateway: "portone".into(),
            method: PaymentMethod::Card,
            payment_key: Some("token".into()),
            amount: Won::new(90_000).unwrap(),
            currency: podo_domain::Currency::Krw,
        }
    }

    fn reply(status: u16, text: &str) -> Reply {
        Reply { status, text: text.to_owned() }
    }

    const PAID: &str = r#"{"status":"PAID","id":"0000000000000000000000000000000b",
        "transactionId":"tx-1","merchantId":"m","storeId":"store-1","version":"V2",
        "channel":{"type":"TEST","pgProvider":"KCP_V2","name":"x"},
        "method":{"type":"PaymentMethodCard","card":{"number":"536510******1111"}},
        "amount":{"total":90000,"taxFree":0,"discount":0,"paid":90000,"cancelled":0,
        "cancelledTaxFree":0},"currency":"KRW","paidAt":"2026-11-16T01:00:00Z"}"#;

    #[test]
    fn keys_are_quoted_and_long_enough() {
        let call = portone().capture(&ask(), Timestamp::from_ms(0)).unwrap();
        let key = "\"0000000000000000000000000000000b\"".to_owned();
        assert!(call.headers.contains(&("idempotency-key", key)));
        assert!(call.url.ends_with("/payments/0000000000000000000000000000000b/confirm"));
    }

    #[test]
    fn easy_pays_name_their_provider_and_a_reply_names_what_was_used() {
        let opened = |method| {
            let order = test_order(method, Device::Phone);
            portone().checkout(&order, &Value::Null).unwrap().data.unwrap()
        };
        let naver = opened(PaymentMethod::NaverPay);
        assert_eq!(naver["payMethod"], "EASY_PAY");
        assert_eq!(naver["easyPay"], json!({ "easyPayProvider": "EASY_PAY_PROVIDER_NAVERPAY" }));
        assert_eq!(opened(PaymentMethod::Transfer)["payMethod"], "TRANSFER");
        let card = opened(PaymentMethod::Card);
        assert_eq!((&card["payMethod"], &card["easyPay"]), (&json!("CARD"), &Value::Null));
        let read = |kind: &str, provider: &str| {
            paid_with(&json!({ "type": format!("PaymentMethod{kind}"), "provider": provider }))
        };
        assert_eq!(read("Card", ""), Some(PaymentMethod::Card));
        assert_eq!(read("Transfer", ""), Some(PaymentMethod::Transfer));
        assert_eq!(read("EasyPay", "TOSSPAY"), Some(PaymentMethod::TossPay));
        assert_eq!((read("EasyPay", "LPAY"), read("Mobile", "")), (None, None));
    }

    #[test]
    fn a_charge_is_read_from_the_book_with_currency_and_channel() {
        let charged = reply(200, r#"{"payment":{"pgTxId":"1","paidAt":"2026-11-16T01:00:00Z"}}"#);
        assert_eq!(portone().read_capture(&ask(), &charged), CaptureReply::Look);
        let book = portone().read_book(&reply(200, PAID));
        assert_eq!((book.state, book.captured.get()), (State::Captured, 90_000));
        assert!(!book.kept.unwrap().contains("536510"));
        for (ours, theirs) in [("KRW", "USD"), ("TEST", "LIVE")] {
            let odd = reply(200, &PAID.replace(ours, theirs));
            assert_eq!(portone().read_book(&odd).state, State::Unreadable, "{theirs}");
        }
    }

    #[test]
    fn a_refusal_is_final_and_doubt_is_not() {
        let error = |status, kind: &str| {
            let text = format!(r#"{{"type":"{kind}","message":"…"}}"#);
            portone().read_capture(&ask(), &reply(status, &text))
        };
        let kind = "INVALID_PAYMENT_TOKEN";
        assert_eq!(error(400, kind), CaptureReply::Refused(kind.into()));
        assert_eq!(
            error(409, "INFORMATION_MISMATCH"),
            CaptureReply::Refused("INFORMATION_MISMATCH".into())
        );
        assert_eq!(error(409, "ALREADY_PAID"), CaptureReply::Look);
        assert_eq!(error(409, "IDEMPOTENCY_OUTSTANDING_REQUEST"), CaptureReply::Look);
        assert_eq!(error(502, "PG_PROVIDER"), CaptureReply::Look);
    }

    #[test]
    fn a_refund_names_what_is_left_and_waits_until_it_is_made() {
        let refund = DueRefund {
            refund: RefundId::new(Uuid::from_u128(3)),
            payment: ask().payment,
            gateway: "portone".into(),
            method: PaymentMethod::Card,
            payment_key: None,
            amount: Won::new(30_000).unwrap(),
            currency: podo_domain::Currency::Krw,
            reason: "못 가요".into(),
            number: 2,
            captured: Won::new(90_000).unwrap(),
            in_book: InBook {
                amount: Won::new(30_000).unwrap(),
                refunded_before: Won::new(20_000).unwrap(),
                book_before: None,
            },
            account: None,
            attempts: 1,
        };
        let call = portone().refund(&refund, None, Timestamp::from_ms(0)).unwrap();
        let Content::Json(body) = call.body else { panic!() };
        assert_eq!(
            (&body["amount"], &body["currentCancellableAmount"]),
            (&json!(30_000), &json!(70_000))
        );
        let read = |status, text: &str| portone().read_refund(&reply(status, text));
        assert_eq!(read(200, r#"{"cancellation":{"status":"SUCCEEDED","id":"c"}}"#), Refund::Made);
        assert_eq!(
            read(200, r#"{"cancellation":{"status":"REQUESTED","id":"c"}}"#),
            Refund::Later("REQUESTED".into())
        );
        let broken = r#"{"type":"CANCELLABLE_AMOUNT_CONSISTENCY_BROKEN"}"#;
        assert_eq!(read(409, broken), Refund::Look("CANCELLABLE_AMOUNT_CONSISTENCY_BROKEN".into()));
    }

    #[test]
    fn every_answer_to_a_cancellation_has_its_end() {
        let wait = |status: u16, kind: &str| Refund::Later(format!("{status} {kind}"));
        let look = |_: u16, kind: &str| Refund::Look(kind.to_owned());
        let done = Void::Done;
        for (status, kind, void, refund) in [
            (404, "PAYMENT_NOT_FOUND", done("NOT_FOUND"), wait as fn(u16, &str) -> Refund),
            (409, "PAYMENT_NOT_PAID", done("NOT_PAID"), look),
            (409, "PAYMENT_ALREADY_CANCELLED", done("ALREADY_CANCELED"), look),
            (409, "CANCELLABLE_AMOUNT_CONSISTENCY_BROKEN", Void::Look, look),
            (409, "CANCEL_AMOUNT_EXCEEDS_CANCELLABLE_AMOUNT", Void::Look, look),
            (409, "MAX_CANCEL_COUNT_REACHED", Void::Look, look),
            (409, "IDEMPOTENCY_OUTSTANDING_REQUEST", Void::Again, wait),
            (502, "PG_PROVIDER", Void::Again, wait),
            (401, "UNAUTHORIZED", Void::Again, wait),
            (400, "INVALID_REQUEST", Void::Again, wait),
        ] {
            let reply = reply(status, &format!(r#"{{"type":"{kind}","message":"…"}}"#));
            assert_eq!(portone().read_void(&reply), void, "{kind}");
            assert_eq!(portone().read_refund(&reply), refund(status, kind), "{kind}");
        }
        let answered = |status: &str| {
            portone()
                .read_void(&reply(200, &format!(r#"{{"cancellation":{{"status":"{status}"}}}}"#)))
        };
        assert_eq!(answered("SUCCEEDED"), Void::Done("VOIDED"));
        assert_eq!((answered("REQUESTED"), answered("FAILED")), (Void::Look, Void::Look));
        assert_eq!(portone().read_void(&reply(504, "")), Void::Again);
    }
}
