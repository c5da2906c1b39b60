//! Toss Payments: `docs.tosspayments.com`, version 2022-11-16.

use crate::gateways::accounts;
use crate::gateways::protocol::{
    Book, Call, CaptureReply, Content, GatewayProtocol, Refund, Reply, State, Void, cut, field,
    hex_digest, keep, text, won,
};
use crate::gateways::settings::TossSettings;
use aws_lc_rs::digest::SHA256;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use podo_app::payments::port::gateway::{Delivery, Hint, Order, Returned};
use podo_app::payments::port::payments::{Checkout, DueRefund, GatewayQuery};
use podo_domain::payments::PaymentMethod;
use podo_domain::payments::deposits::RefundAccount;
use podo_domain::{PaymentId, Refusal, Timestamp, Won};
use serde_json::{Value, json};
use std::time::Duration;

const KEPT: &[&str] = &[
    "paymentKey",
    "orderId",
    "status",
    "method",
    "totalAmount",
    "balanceAmount",
    "approvedAt",
    "currency",
    "card.issuerCode",
    "card.acquirerCode",
    "card.approveNo",
    "card.installmentPlanMonths",
    "easyPay.provider",
    "virtualAccount.bankCode",
    "virtualAccount.dueDate",
    "code",
];

/// Codes with an unknown outcome, which a query settles.
const UNSURE: &[&str] = &[
    "ALREADY_PROCESSED_PAYMENT",
    "IDEMPOTENT_REQUEST_PROCESSING",
    "PROVIDER_ERROR",
    "UNKNOWN_PAYMENT_ERROR",
    "FAILED_INTERNAL_SYSTEM_PROCESSING",
    "FAILED_PAYMENT_INTERNAL_SYSTEM_PROCESSING",
    "COMMON_ERROR",
];

pub(super) struct Toss {
    settings: TossSettings,
    home: String,
}

impl Toss {
    pub(super) fn new(settings: TossSettings, home: &str) -> Toss {
        Toss { settings, home: home.to_owned() }
    }

    fn call(&self, path: &str, key: Option<String>, body: Content) -> Call {
        let login = STANDARD.encode(format!("{}:", self.settings.secret_key));
        let mut headers = vec![("authorization", format!("Basic {login}"))];
        let may_repeat = key.is_some() || matches!(body, Content::None);
        headers.extend(key.map(|key| ("idempotency-key", key)));
        Call { url: format!("{}{path}", self.settings.url), headers, body, may_repeat }
    }

    fn cancel(&self, payment_key: &str, key: String, body: Value) -> Call {
        let path = format!("/v1/payments/{payment_key}/cancel");
        self.call(&path, Some(key), Content::Json(body))
    }
}

/// A payment key becomes part of a URL.
fn is_key(key: &str) -> bool {
    (1..=200).contains(&key.len())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

fn read_payment(value: &Value) -> Book {
    let total = won(&value["totalAmount"]).unwrap_or(Won::ZERO);
    let balance = won(&value["balanceAmount"]).unwrap_or(total);
    let state = match text(value, "status") {
        _ if !["", "KRW"].contains(&text(value, "currency")) => State::Unreadable,
        "DONE" | "PARTIAL_CANCELED" => State::Captured,
        status @ ("CANCELED" | "ABORTED" | "EXPIRED") => State::Closed(status.to_owned()),
        "WAITING_FOR_DEPOSIT" => accounts::of_toss(&value["virtualAccount"]),
        "READY" | "IN_PROGRESS" => State::Open,
        _ => State::Unreadable,
    };
    let was_charged = matches!(text(value, "status"), "DONE" | "PARTIAL_CANCELED" | "CANCELED");
    let captured = if was_charged { total } else { Won::ZERO };
    Book {
        captured,
        refunded: captured.checked_sub(balance).unwrap_or(Won::ZERO),
        kept: keep(value, KEPT),
        reference: value["paymentKey"].as_str().map(str::to_owned),
        paid_with: paid_with(value),
        ..Book::is(state)
    }
}

/// Easy pays are cards with a name, which opens their window directly.
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

/// Replies name methods in Korean unless English is asked for.
fn paid_with(value: &Value) -> Option<PaymentMethod> {
    match text(value, "method") {
        "카드" | "CARD" => Some(PaymentMethod::Card),
        "계좌이체" | "TRANSFER" => Some(PaymentMethod::Transfer),
        "가상계좌" | "VIRTUAL_ACCOUNT" => Some(PaymentMethod::VirtualAccount),
        "간편결제" | "EASY_PAY" => match text(&value["easyPay"], "provider") {
            "카카오페이" | "KAKAOPAY" => Some(PaymentMethod::KakaoPay),
            "네이버페이" | "NAVERPAY" => Some(PaymentMethod::NaverPay),
            "토스페이" | "TOSSPAY" => Some(PaymentMethod::TossPay),
            "페이코" | "PAYCO" => Some(PaymentMethod::Payco),
            "삼성페이" | "SAMSUNGPAY" => Some(PaymentMethod::SamsungPay),
            _ => None,
        },
        _ => None,
    }
}

impl GatewayProtocol for Toss {
    const NAME: &'static str = "toss";
    const PATIENCE: Duration = Duration::from_secs(30);
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
        let method = if order.method == PaymentMethod::Transfer {
            "TRANSFER"
        } else if order.method == PaymentMethod::VirtualAccount {
            "VIRTUAL_ACCOUNT"
        } else {
            "CARD"
        };
        let mut data = json!({
            "scriptUrl": "https://js.tosspayments.com/v2/standard",
            "clientKey": self.settings.client_key,
            "customerKey": order.customer,
            "method": method,
            "orderId": order.payment.order_id(),
            "orderName": cut(order.name, 100),
            "amount": { "currency": "KRW", "value": order.amount },
            "successUrl": format!("{}/api/payment/return/toss", self.home),
            "failUrl": format!("{}/api/payment/return/toss?orderId={}",
                               self.home, order.payment.order_id()),
        });
        if let Some(easy_pay) = easy_pay_of(order.method) {
            data["card"] = json!({ "flowMode": "DIRECT", "easyPay": easy_pay });
        }
        if let Some(due_at) = order.deposit_due {
            let due = due_at.seoul_time();
            data["virtualAccount"] = json!({ "dueDate": due, "useEscrow": false });
        }
        Some(Checkout { gateway: Some(Self::NAME.into()), url: None, data: Some(data) })
    }

    fn capture(&self, ask: &GatewayQuery, _now: Timestamp) -> Result<Call, String> {
        let key = ask.payment_key.as_deref().filter(|key| is_key(key));
        let key = key.ok_or("INVALID_PAYMENT_KEY")?;
        let order = ask.payment.order_id();
        let body = json!({ "paymentKey": key, "orderId": order, "amount": ask.amount });
        Ok(self.call("/v1/payments/confirm", Some(order), Content::Json(body)))
    }

    fn read_capture(&self, ask: &GatewayQuery, reply: &Reply) -> CaptureReply {
        let value = reply.json();
        if reply.is_ok() {
            let book = read_payment(&value);
            let is_ours = text(&value, "orderId") == ask.payment.order_id();
            return if is_ours && matches!(book.state, State::Captured | State::Awaiting(_)) {
                CaptureReply::Charged(book)
            } else {
                CaptureReply::Look
            };
        }
        let code = text(&value, "code");
        if reply.status >= 500 || code.is_empty() || UNSURE.contains(&code) {
            return CaptureReply::Look;
        }
        if reply.status == 401 {
            tracing::error!(gateway = Self::NAME, code, "Gateway rejected our key");
        }
        CaptureReply::Refused(code.to_owned())
    }

    fn find(&self, ask: &GatewayQuery, _now: Timestamp) -> Option<Call> {
        let path = format!("/v1/payments/orders/{}", ask.payment.order_id());
        Some(self.call(&path, None, Content::None))
    }

    fn read_book(&self, reply: &Reply) -> Book {
        let value = reply.json();
        match reply.status {
            404 if text(&value, "code") == "NOT_FOUND_PAYMENT" => Book::is(State::Missing),
            _ if reply.is_ok() => read_payment(&value),
            _ => Book::is(State::Unreadable),
        }
    }

    fn void(&self, ask: &GatewayQuery, _book: Option<&Book>, _now: Timestamp) -> Option<Call> {
        let key = ask.payment_key.as_deref().filter(|key| is_key(key))?;
        let body = json!({ "cancelReason": "VOID" });
        Some(self.cancel(key, format!("{}void", ask.payment.order_id()), body))
    }

    /// A payment that waits for its confirmation can't be canceled. It ends by itself ten minutes
    /// after the fan's approval, and their records then show it.
    fn read_void(&self, reply: &Reply) -> Void {
        let value = reply.json();
        match text(&value, "code") {
            _ if reply.is_ok() && text(&value, "status") == "CANCELED" => Void::Done("VOIDED"),
            _ if reply.is_ok() => Void::Look,
            "ALREADY_CANCELED_PAYMENT" => Void::Done("ALREADY_CANCELED"),
            "NOT_FOUND_PAYMENT" | "NOT_FOUND_PAYMENT_SESSION" => Void::Done("NOT_FOUND"),
            "NOT_CANCELABLE_PAYMENT"
            | "NOT_CANCELABLE_AMOUNT"
            | "NOT_MATCHES_REFUNDABLE_AMOUNT"
            | "EXCEED_MAX_REFUND_DUE"
            | "REFUND_REJECTED" => Void::Look,
            _ => Void::Again,
        }
    }

    fn refund(
        &self,
        refund: &DueRefund,
        account: Option<&RefundAccount>,
        _now: Timestamp,
    ) -> Result<Call, String> {
        let key = refund.payment_key.as_deref().filter(|key| is_key(key));
        let key = key.ok_or("no payment key")?;
        let mut body =
            json!({ "cancelReason": cut(&refund.reason, 200), "cancelAmount": refund.amount });
        if refund.method == PaymentMethod::VirtualAccount {
            let account = account.ok_or("no account to refund to")?;
            body["refundReceiveAccount"] = json!({
                "bank": account.bank.code(),
                "accountNumber": account.number.as_str(),
                "holderName": account.holder.as_str(),
            });
        }
        Ok(self.cancel(key, refund.refund.uuid().simple().to_string(), body))
    }

    fn read_refund(&self, reply: &Reply) -> Refund {
        let value = reply.json();
        match text(&value, "code") {
            _ if reply.is_ok() => Refund::Made,
            code @ ("ALREADY_CANCELED_PAYMENT"
            | "NOT_CANCELABLE_AMOUNT"
            | "NOT_CANCELABLE_PAYMENT"
            | "NOT_MATCHES_REFUNDABLE_AMOUNT"
            | "EXCEED_MAX_REFUND_DUE"
            | "REFUND_REJECTED") => Refund::Look(code.to_owned()),
            code => Refund::Later(format!("{} {code}", reply.status)),
        }
    }

    /// Payment webhooks are unsigned: they name an order, and we query it.
    fn hint(&self, delivery: &Delivery<'_>) -> Result<Hint, Refusal> {
        let body = str::from_utf8(delivery.body).map_err(|_error| Refusal::WebhookInvalid)?;
        let value: Value = serde_json::from_str(body).map_err(|_error| Refusal::WebhookInvalid)?;
        let named = field(delivery.headers, "tosspayments-webhook-transmission-id");
        Ok(Hint {
            id: named.map_or_else(|| hex_digest(&SHA256, body), str::to_owned),
            kind: cut(text(&value, "eventType"), 60).to_owned(),
            // A deposit's webhook names the order beside its type.
            payment: PaymentId::from_order_id(text(&value["data"], "orderId"))
                .or_else(|| PaymentId::from_order_id(text(&value, "orderId"))),
        })
    }

    fn returned(&self, fields: &[(String, String)]) -> Option<Returned> {
        let payment = PaymentId::from_order_id(field(fields, "orderId")?)?;
        let approval = match field(fields, "paymentKey") {
            Some(key) => Ok(key.to_owned()),
            None => Err(field(fields, "code").unwrap_or("CANCELED").to_owned()),
        };
        Some(Returned { payment, approval })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateways::protocol::test_order;
    use podo_app::payments::port::gateway::Device;
    use uuid::Uuid;

    fn toss() -> Toss {
        let settings = TossSettings {
            url: "https://api.tosspayments.com".into(),
            client_key: "test_ck_x".into(),
            secret_key: "test_sk_x".into(),
        };
        Toss::new(settings, "https://podo.example")
    }

    fn ask() -> GatewayQuery {
        GatewayQuery {
            payment: PaymentId::new(Uuid::from_u128(0xA)),
            gateway: "toss".into(),
            method: PaymentMethod::Card,
            payment_key: Some("tgen_20261116abc".into()),
            amount: Won::new(150_000).unwrap(),
            currency: podo_domain::Currency::Krw,
        }
    }

    fn reply(status: u16, text: &str) -> Reply {
        Reply { status, text: text.to_owned() }
    }

    const DONE: &str = r#"{"mId":"tosspayments","version":"2022-11-16","paymentKey":"tgen_1",
        "orderId":"0000000000000000000000000000000a","orderName":"x","currency":"KRW",
        "method":"카드","status":"DONE","approvedAt":"2026-11-16T10:00:00+09:00",
        "card":{"issuerCode":"61","number":"433012******1234","approveNo":"00000000"},
        "totalAmount":150000,"balanceAmount":150000,"cancels":null}"#;

    #[test]
    fn a_confirm_carries_the_key_the_order_and_the_amount() {
        let call = toss().capture(&ask(), Timestamp::from_ms(0)).unwrap();
        assert_eq!(call.url, "https://api.tosspayments.com/v1/payments/confirm");
        let order = "0000000000000000000000000000000a".to_owned();
        assert!(call.headers.contains(&("idempotency-key", order)));
        let login = "Basic dGVzdF9za194Og==".to_owned();
        assert!(call.headers.contains(&("authorization", login)), "padded, with the colon");
        let odd = GatewayQuery { payment_key: Some("../x".into()), ..ask() };
        assert!(toss().capture(&odd, Timestamp::from_ms(0)).is_err());
    }

    #[test]
    fn easy_pays_open_their_own_window_and_a_reply_names_what_was_used() {
        let opened = |method| {
            let order = test_order(method, Device::Phone);
            toss().checkout(&order, &Value::Null).unwrap().data.unwrap()
        };
        let kakao = opened(PaymentMethod::KakaoPay);
        assert_eq!(kakao["method"], "CARD");
        assert_eq!(kakao["card"], json!({ "flowMode": "DIRECT", "easyPay": "KAKAOPAY" }));
        assert_eq!(opened(PaymentMethod::Transfer)["method"], "TRANSFER");
        let card = opened(PaymentMethod::Card);
        assert_eq!((&card["method"], &card["card"]), (&json!("CARD"), &Value::Null));
        let read = |method: &str, provider: &str| {
            let easy_pay = json!({ "provider": provider });
            paid_with(&json!({ "method": method, "easyPay": easy_pay }))
        };
        assert_eq!(read("카드", ""), Some(PaymentMethod::Card));
        assert_eq!(read("계좌이체", ""), Some(PaymentMethod::Transfer));
        assert_eq!(read("간편결제", "카카오페이"), Some(PaymentMethod::KakaoPay));
        assert_eq!((read("간편결제", "엘페이"), read("휴대폰", "")), (None, None));
    }

    #[test]
    fn done_is_captured_and_no_card_number_is_kept() {
        let CaptureReply::Charged(book) = toss().read_capture(&ask(), &reply(200, DONE)) else {
            panic!()
        };
        assert_eq!((book.state, book.captured.get()), (State::Captured, 150_000));
        let kept = book.kept.unwrap();
        assert!(kept.contains("card.issuerCode") && !kept.contains("433012"), "{kept}");
        let foreign = GatewayQuery { payment: PaymentId::new(Uuid::from_u128(9)), ..ask() };
        assert_eq!(toss().read_capture(&foreign, &reply(200, DONE)), CaptureReply::Look);
    }

    #[test]
    fn a_refusal_is_final_and_doubt_is_not() {
        let error = |status, code: &str| {
            let text = format!(r#"{{"code":"{code}","message":"…"}}"#);
            toss().read_capture(&ask(), &reply(status, &text))
        };
        let no = |code: &str| CaptureReply::Refused(code.to_owned());
        assert_eq!(error(403, "REJECT_CARD_PAYMENT"), no("REJECT_CARD_PAYMENT"));
        assert_eq!(error(404, "NOT_FOUND_PAYMENT_SESSION"), no("NOT_FOUND_PAYMENT_SESSION"));
        for (status, code) in [
            (400, "ALREADY_PROCESSED_PAYMENT"),
            (400, "PROVIDER_ERROR"),
            (409, "IDEMPOTENT_REQUEST_PROCESSING"),
            (500, "FAILED_PAYMENT_INTERNAL_SYSTEM_PROCESSING"),
            (500, "REJECT_CARD_PAYMENT"),
        ] {
            assert_eq!(error(status, code), CaptureReply::Look, "{code}");
        }
        assert_eq!(toss().read_capture(&ask(), &reply(400, "<html>")), CaptureReply::Look);
    }

    #[test]
    fn the_book_tells_what_was_charged_and_what_went_back() {
        let read = |status: &str, balance: i64| {
            let text = DONE
                .replace("DONE", status)
                .replace(r#""balanceAmount":150000"#, &format!(r#""balanceAmount":{balance}"#));
            let book = toss().read_book(&reply(200, &text));
            (book.state, book.captured.get(), book.refunded.get())
        };
        assert_eq!(read("PARTIAL_CANCELED", 100_000), (State::Captured, 150_000, 50_000));
        assert_eq!(read("CANCELED", 0), (State::Closed("CANCELED".into()), 150_000, 150_000));
        assert_eq!(read("IN_PROGRESS", 150_000), (State::Open, 0, 0));
        let missing = reply(404, r#"{"code":"NOT_FOUND_PAYMENT","message":""}"#);
        assert_eq!(toss().read_book(&missing).state, State::Missing);
        assert_eq!(toss().read_book(&reply(502, "")).state, State::Unreadable);
        let dollars = DONE.replace("KRW", "USD");
        assert_eq!(toss().read_book(&reply(200, &dollars)).state, State::Unreadable);
    }

    #[test]
    fn every_answer_to_a_cancellation_has_its_end() {
        let wait = |code: &str| Refund::Later(format!("400 {code}"));
        let look = |code: &str| Refund::Look(code.to_owned());
        let done = Void::Done;
        for (code, void, refund) in [
            ("ALREADY_CANCELED_PAYMENT", done("ALREADY_CANCELED"), look as fn(&str) -> Refund),
            ("NOT_FOUND_PAYMENT", done("NOT_FOUND"), wait),
            ("NOT_FOUND_PAYMENT_SESSION", done("NOT_FOUND"), wait),
            ("NOT_CANCELABLE_PAYMENT", Void::Look, look),
            ("NOT_CANCELABLE_AMOUNT", Void::Look, look),
            ("NOT_MATCHES_REFUNDABLE_AMOUNT", Void::Look, look),
            ("EXCEED_MAX_REFUND_DUE", Void::Look, look),
            ("REFUND_REJECTED", Void::Look, look),
            ("FORBIDDEN_CONSECUTIVE_REQUEST", Void::Again, wait),
            ("FAILED_REFUND_PROCESS", Void::Again, wait),
            ("IDEMPOTENT_REQUEST_PROCESSING", Void::Again, wait),
            ("PROVIDER_ERROR", Void::Again, wait),
            ("UNAUTHORIZED_KEY", Void::Again, wait),
        ] {
            let reply = reply(400, &format!(r#"{{"code":"{code}","message":"…"}}"#));
            assert_eq!(toss().read_void(&reply), void, "{code}");
            assert_eq!(toss().read_refund(&reply), refund(code), "{code}");
        }
        let canceled = reply(200, &DONE.replace("DONE", "CANCELED"));
        assert_eq!(toss().read_void(&canceled), Void::Done("VOIDED"));
        assert_eq!(toss().read_void(&reply(200, DONE)), Void::Look);
        assert_eq!(toss().read_void(&reply(502, "<html>")), Void::Again);
        assert_eq!(toss().read_refund(&canceled), Refund::Made);
    }

    #[test]
    fn a_webhook_names_an_order() {
        let body =
            br#"{"eventType":"PAYMENT_STATUS_CHANGED","createdAt":"2026-11-16T01:02:03.000004",
            "data":{"orderId":"0000000000000000000000000000000a","status":"DONE"}}"#;
        let delivery = Delivery { headers: &[], body, now: Timestamp::from_ms(0) };
        let hint = toss().hint(&delivery).unwrap();
        assert_eq!(
            (hint.kind.as_str(), hint.payment),
            ("PAYMENT_STATUS_CHANGED", Some(ask().payment))
        );
        assert_eq!(toss().hint(&delivery).unwrap().id, hint.id);
    }
}
