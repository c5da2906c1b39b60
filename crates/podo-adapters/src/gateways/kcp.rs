//! NHN KCP: encrypted approval, cancellations signed with the merchant's key. A phone has no script:
//! the trade is registered by a call, and a form opens their mobile page.

use crate::gateways::protocol::{
    Book, Call, CaptureReply, Content, GatewayProtocol, Refund, Reply, State, Void, cut, field,
    keep, text, won,
};
use crate::gateways::settings::KcpSettings;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use podo_app::payments::port::gateway::{Device, Order, Returned};
use podo_app::payments::port::payments::{Checkout, DueRefund, GatewayQuery};
use podo_domain::payments::PaymentMethod;
use podo_domain::payments::deposits::RefundAccount;
use podo_domain::{PaymentId, Timestamp, Won};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

const KEPT: &[&str] = &[
    "res_cd",
    "tno",
    "order_no",
    "amount",
    "app_time",
    "app_no",
    "card_cd",
    "quota",
    "pay_method",
    "card_other_pay_type",
    "mod_time",
    "rem_mny",
];

/// Their codes of a method: in the window, on the mobile page, as `ActionResult` there, and in calls.
/// Easy pays are cards with a field of their own.
struct Codes {
    window: &'static str,
    page: &'static str,
    action: &'static str,
    pay_type: &'static str,
}

const fn codes(method: PaymentMethod) -> Codes {
    match method {
        PaymentMethod::Transfer => {
            Codes { window: "010000000000", page: "BANK", action: "acnt", pay_type: "PABK" }
        }
        PaymentMethod::Card
        | PaymentMethod::KakaoPay
        | PaymentMethod::NaverPay
        | PaymentMethod::TossPay
        | PaymentMethod::Payco
        | PaymentMethod::SamsungPay
        | PaymentMethod::VirtualAccount
        | PaymentMethod::Wallet
        | PaymentMethod::BoxOffice => {
            Codes { window: "100000000000", page: "CARD", action: "card", pay_type: "PACA" }
        }
    }
}

/// The field that opens an easy pay's own page.
const fn direct_field(method: PaymentMethod) -> Option<&'static str> {
    match method {
        PaymentMethod::KakaoPay => Some("kakaopay_direct"),
        PaymentMethod::NaverPay => Some("naverpay_direct"),
        PaymentMethod::TossPay => Some("tosspay_direct"),
        PaymentMethod::Payco => Some("payco_direct"),
        PaymentMethod::SamsungPay
        | PaymentMethod::Card
        | PaymentMethod::Transfer
        | PaymentMethod::VirtualAccount
        | PaymentMethod::Wallet
        | PaymentMethod::BoxOffice => None,
    }
}

fn paid_with(value: &Value) -> Option<PaymentMethod> {
    match (text(value, "pay_method"), text(value, "card_other_pay_type")) {
        (_, "OT01") => Some(PaymentMethod::SamsungPay),
        (_, "OT12") => Some(PaymentMethod::Payco),
        (_, "OT13") | ("PAKM", _) => Some(PaymentMethod::KakaoPay),
        (_, "OT16") | ("PANP", _) => Some(PaymentMethod::NaverPay),
        (_, "OT23") => Some(PaymentMethod::TossPay),
        ("PABK", _) => Some(PaymentMethod::Transfer),
        ("PACA", "") => Some(PaymentMethod::Card),
        _ => None,
    }
}

pub(super) struct Kcp {
    url: String,
    site_cd: String,
    /// PEM in one line: they refuse line breaks.
    certificate: String,
    key: RsaKeyPair,
    home: String,
}

impl Kcp {
    pub(super) fn new(settings: &KcpSettings, home: &str) -> Result<Kcp, String> {
        let read = |path: &Path| {
            std::fs::read_to_string(path)
                .map_err(|error| format!("KCP: cannot read {}: {error}", path.display()))
        };
        let certificate = read(&settings.certificate)?.replace(['\r', '\n'], "");
        let pem = read(&settings.private_key)?;
        let key = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes())
            .map_err(|error| format!("KCP: the private key is no PKCS#8 PEM: {error}"))?;
        let key = RsaKeyPair::from_pkcs8(key.secret_pkcs8_der())
            .map_err(|error| format!("KCP: the private key is no RSA key: {error}"))?;
        let (url, site_cd) = (settings.url.clone(), settings.site_cd.clone());
        Ok(Kcp { url, site_cd, certificate, key, home: home.to_owned() })
    }

    /// SHA256withRSA over the parts, with `^` between them.
    fn sign(&self, parts: &[&str]) -> Option<String> {
        let mut signature = vec![0; self.key.public_modulus_len()];
        let message = parts.join("^");
        let random = SystemRandom::new();
        let signed = self.key.sign(&RSA_PKCS1_SHA256, &random, message.as_bytes(), &mut signature);
        signed.ok().map(|()| STANDARD.encode(&signature))
    }

    /// What the window, the registration and the mobile page all ask for.
    fn order(&self, order: &Order<'_>, method: &str) -> Value {
        json!({
            "site_cd": self.site_cd,
            "ordr_idxx": order.payment.order_id(),
            "good_name": cut(order.name, 100),
            "good_mny": order.amount.get().to_string(),
            "pay_method": method,
            "Ret_URL": format!("{}/api/payment/return/kcp", self.home),
        })
    }

    fn call(&self, path: &str, body: Value, may_repeat: bool) -> Call {
        let url = format!("{}{path}", self.url);
        Call { url, headers: Vec::new(), body: Content::Json(body), may_repeat }
    }

    /// `STSC` cancels all, `STPC` a part.
    fn cancel(&self, tno: &str, reason: &str, part: Option<(Won, Won)>) -> Option<Call> {
        let kind = if part.is_some() { "STPC" } else { "STSC" };
        let mut body = json!({
            "site_cd": self.site_cd, "tno": tno, "kcp_cert_info": self.certificate,
            "kcp_sign_data": self.sign(&[&self.site_cd, tno, kind])?,
            "mod_type": kind, "mod_desc": cut(reason, 100),
        });
        if let Some((amount, left)) = part {
            body["mod_mny"] = json!(amount.get().to_string());
            body["rem_mny"] = json!(left.get().to_string());
        }
        Some(self.call("/gw/mod/v1/cancel", body, false))
    }
}

/// The charge's transaction id, once there is one.
fn charge(key: Option<&str>) -> Option<&str> {
    key.and_then(|key| key.strip_prefix("tno:"))
}

impl GatewayProtocol for Kcp {
    const NAME: &'static str = "kcp";
    const PATIENCE: Duration = Duration::from_secs(30);
    const METHODS: &'static [PaymentMethod] = &[
        PaymentMethod::Card,
        PaymentMethod::KakaoPay,
        PaymentMethod::NaverPay,
        PaymentMethod::TossPay,
        PaymentMethod::Payco,
        PaymentMethod::Transfer,
    ];

    fn register(&self, order: &Order<'_>) -> Option<Call> {
        let is_phone = order.device == Device::Phone;
        let mut body = is_phone.then(|| self.order(order, codes(order.method).page))?;
        body["kcp_cert_info"] = json!(self.certificate);
        body["escw_used"] = json!("N");
        body["user_agent"] = json!("");
        // They register an order again under a new key, and charge it once.
        Some(self.call("/std/tradeReg/register", body, true))
    }

    fn checkout(&self, order: &Order<'_>, registered: &Value) -> Option<Checkout> {
        let codes = codes(order.method);
        let mut data = match order.device {
            Device::Desktop => {
                let host = if self.url.contains("stg") { "testspay" } else { "spay" };
                let mut data = self.order(order, codes.window);
                let script = format!("https://{host}.kcp.co.kr/plugin/kcp_spay_hub.js");
                data["scriptUrl"] = json!(script);
                data
            }
            Device::Phone => {
                let (key, page) = (text(registered, "approvalKey"), text(registered, "PayUrl"));
                if text(registered, "Code") != "0000" || key.is_empty() || page.is_empty() {
                    return None;
                }
                let mut data = self.order(order, codes.page);
                data["action"] = json!(page);
                data["PayUrl"] = json!(page);
                data["approval_key"] = json!(key);
                data["ActionResult"] = json!(codes.action);
                data["escw_used"] = json!("N");
                data["req_tx"] = json!("pay");
                data
            }
        };
        data["currency"] = json!("410");
        if let Some(field) = direct_field(order.method) {
            data[field] = json!("Y");
        }
        Some(Checkout { gateway: Some(Self::NAME.into()), url: None, data: Some(data) })
    }

    fn capture(&self, ask: &GatewayQuery, _now: Timestamp) -> Result<Call, String> {
        let key = ask.payment_key.as_deref().unwrap_or_default();
        let approval: Value =
            serde_json::from_str(key).map_err(|_error| "INVALID_APPROVAL".to_owned())?;
        let body = json!({
            "tran_cd": text(&approval, "tran_cd"), "site_cd": self.site_cd,
            "kcp_cert_info": self.certificate, "enc_data": text(&approval, "enc_data"),
            "enc_info": text(&approval, "enc_info"), "ordr_mony": ask.amount.get().to_string(),
            "ordr_no": ask.payment.order_id(), "pay_type": codes(ask.method).pay_type,
        });
        Ok(self.call("/gw/enc/v1/payment", body, false))
    }

    fn read_capture(&self, ask: &GatewayQuery, reply: &Reply) -> CaptureReply {
        let value = reply.json();
        match text(&value, "res_cd") {
            "0000" if text(&value, "order_no") == ask.payment.order_id() => {
                CaptureReply::Charged(self.read_book(reply))
            }
            "0000" | "" => CaptureReply::Look,
            code if reply.is_ok() => CaptureReply::Refused(code.to_owned()),
            _ => CaptureReply::Look,
        }
    }

    fn find(&self, ask: &GatewayQuery, _now: Timestamp) -> Option<Call> {
        let (order, pay_type) = (ask.payment.order_id(), codes(ask.method).pay_type);
        let body = json!({
            "site_cd": self.site_cd, "kcp_cert_info": self.certificate,
            "pay_type": pay_type, "ordr_no": order,
            "tno": charge(ask.payment_key.as_deref()).unwrap_or_default(),
            "kcp_sign_data": self.sign(&[&self.site_cd, &order, pay_type])?,
        });
        Some(self.call("/std/inquery", body, true))
    }

    /// `8128` is "no such trade"; `rem_mny` is the refundable rest.
    fn read_book(&self, reply: &Reply) -> Book {
        let value = reply.json();
        let amount = won(&value["amount"]).unwrap_or(Won::ZERO);
        let left = won(&value["rem_mny"]).unwrap_or(amount);
        let refunded = amount.checked_sub(left).unwrap_or(Won::ZERO);
        let state = match text(&value, "res_cd") {
            "0000" if !amount.is_zero() && left.is_zero() => State::Closed("CANCELED".into()),
            "0000" if !amount.is_zero() => State::Captured,
            "8128" => return Book::is(State::Missing),
            _ => return Book::is(State::Unreadable),
        };
        let reference = value["tno"].as_str().map(|tno| format!("tno:{tno}"));
        let (kept, paid_with) = (keep(&value, KEPT), paid_with(&value));
        Book { captured: amount, refunded, kept, reference, paid_with, ..Book::is(state) }
    }

    fn void(&self, ask: &GatewayQuery, book: Option<&Book>, _now: Timestamp) -> Option<Call> {
        let known = book.and_then(|book| book.reference.as_deref());
        let tno = charge(known.or(ask.payment_key.as_deref()))?;
        self.cancel(tno, "VOID", None)
    }

    /// Their records can be queried by our own number, so those decide in every other case.
    fn read_void(&self, reply: &Reply) -> Void {
        match text(&reply.json(), "res_cd") {
            "0000" if reply.is_ok() => Void::Done("VOIDED"),
            "8128" => Void::Done("NOT_FOUND"),
            "" => Void::Again,
            _ => Void::Look,
        }
    }

    fn refund(
        &self,
        refund: &DueRefund,
        _account: Option<&RefundAccount>,
        _now: Timestamp,
    ) -> Result<Call, String> {
        let tno = charge(refund.payment_key.as_deref()).ok_or("the charge has no name")?;
        let left = refund.left_before().ok_or("more went back than came")?;
        let part = (refund.amount != refund.captured).then_some((refund.amount, left));
        Ok(self.cancel(tno, &refund.reason, part).ok_or("the key cannot sign")?)
    }

    fn read_refund(&self, reply: &Reply) -> Refund {
        let value = reply.json();
        match text(&value, "res_cd") {
            "0000" => Refund::Made,
            "" => Refund::Later(format!("{} without a code", reply.status)),
            code => Refund::Look(code.to_owned()),
        }
    }

    fn returned(&self, fields: &[(String, String)]) -> Option<Returned> {
        let payment = PaymentId::from_order_id(field(fields, "ordr_idxx")?)?;
        let code = field(fields, "res_cd").unwrap_or("NO_RESULT");
        let parts = ["tran_cd", "enc_data", "enc_info"].map(|name| (name, field(fields, name)));
        let is_whole = parts.iter().all(|(_, value)| value.is_some());
        let approval = match code {
            "0000" if is_whole => {
                let part =
                    |(name, value): &(&str, Option<&str>)| ((*name).to_owned(), json!(value));
                Ok(Value::Object(parts.iter().map(part).collect()).to_string())
            }
            "0000" => Err("INVALID_APPROVAL".to_owned()),
            code => Err(code.to_owned()),
        };
        Some(Returned { payment, approval })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateways::protocol::test_order;
    use aws_lc_rs::rsa::KeySize;
    use aws_lc_rs::signature::{KeyPair, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
    use uuid::Uuid;

    fn kcp() -> Kcp {
        Kcp {
            url: "https://stg-spl.kcp.co.kr".into(),
            site_cd: "T0000".into(),
            certificate: "-----BEGIN CERTIFICATE-----x".into(),
            key: RsaKeyPair::generate(KeySize::Rsa2048).unwrap(),
            home: String::new(),
        }
    }

    fn ask() -> GatewayQuery {
        GatewayQuery {
            payment: PaymentId::new(Uuid::from_u128(0xD)),
            gateway: "kcp".into(),
            method: PaymentMethod::Card,
            payment_key: Some(r#"{"tran_cd":"00100000","enc_data":"d","enc_info":"i"}"#.into()),
            amount: Won::new(70_000).unwrap(),
            currency: podo_domain::Currency::Krw,
        }
    }

    fn reply(text: &str) -> Reply {
        Reply { status: 200, text: text.to_owned() }
    }

    const CHARGED: &str = r#"{"res_cd":"0000","res_msg":"정상처리","tno":"26111612345678",
        "order_no":"0000000000000000000000000000000d","amount":"70000","card_no":"5365100000001111",
        "card_cd":"CCLG","app_no":"1"}"#;

    #[test]
    fn a_cancellation_is_signed_over_site_trade_and_kind() {
        let kcp = kcp();
        let call = kcp.cancel("T1", "못 가요", Some((Won::new(5).unwrap(), Won::new(9).unwrap())));
        let Content::Json(body) = call.unwrap().body else { panic!() };
        assert_eq!((&body["mod_type"], &body["mod_mny"]), (&json!("STPC"), &json!("5")));
        let signature = STANDARD.decode(body["kcp_sign_data"].as_str().unwrap()).unwrap();
        let public =
            UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, kcp.key.public_key().as_ref());
        public.verify(b"T0000^T1^STPC", &signature).unwrap();
    }

    #[test]
    fn the_server_names_the_amount_and_no_card_number_is_kept() {
        let kcp = kcp();
        let call = kcp.capture(&ask(), Timestamp::from_ms(0)).unwrap();
        let Content::Json(body) = call.body else { panic!() };
        assert_eq!(body["ordr_mony"], "70000");
        let CaptureReply::Charged(book) = kcp.read_capture(&ask(), &reply(CHARGED)) else {
            panic!()
        };
        assert_eq!(
            (book.captured.get(), book.reference),
            (70_000, Some("tno:26111612345678".into()))
        );
        assert!(!book.kept.unwrap().contains("5365"));
        let no = reply(r#"{"res_cd":"8050","res_msg":"한도초과"}"#);
        assert_eq!(kcp.read_capture(&ask(), &no), CaptureReply::Refused("8050".into()));
    }

    #[test]
    fn a_phone_registers_the_trade_and_posts_a_form_to_their_page() {
        let kcp = kcp();
        let order = test_order(PaymentMethod::Transfer, Device::Phone);
        let call = kcp.register(&order).unwrap();
        assert!(call.url.ends_with("/std/tradeReg/register"));
        let Content::Json(body) = call.body else { panic!() };
        assert_eq!((&body["pay_method"], &body["good_mny"]), (&json!("BANK"), &json!("50000")));
        let page = "https://testsmpay.kcp.co.kr/pay/mobileGW.kcp";
        let registered = json!({ "Code": "0000", "approvalKey": "key", "PayUrl": page });
        let data = kcp.checkout(&order, &registered).unwrap().data.unwrap();
        assert_eq!((&data["action"], &data["approval_key"]), (&json!(page), &json!("key")));
        assert_eq!((&data["scriptUrl"], &data["ActionResult"]), (&Value::Null, &json!("acnt")));
        assert_eq!(kcp.checkout(&order, &json!({ "Code": "8001" })), None);
        let desktop = test_order(PaymentMethod::KakaoPay, Device::Desktop);
        assert!(kcp.register(&desktop).is_none());
        let data = kcp.checkout(&desktop, &Value::Null).unwrap().data.unwrap();
        assert_eq!(data["pay_method"], "100000000000");
        assert_eq!((&data["kakaopay_direct"], &data["action"]), (&json!("Y"), &Value::Null));
    }

    #[test]
    fn calls_name_the_kind_of_trade_and_a_reply_names_what_was_used() {
        let ask = GatewayQuery { method: PaymentMethod::Transfer, ..ask() };
        let kcp = kcp();
        for call in [
            kcp.capture(&ask, Timestamp::from_ms(0)).unwrap(),
            kcp.find(&ask, Timestamp::from_ms(0)).unwrap(),
        ] {
            let Content::Json(body) = call.body else { panic!() };
            assert_eq!(body["pay_type"], "PABK", "{}", call.url);
        }
        let read = |method: &str, other: &str| {
            paid_with(&json!({ "pay_method": method, "card_other_pay_type": other }))
        };
        assert_eq!(read("PACA", ""), Some(PaymentMethod::Card));
        assert_eq!(read("PACA", "OT13"), Some(PaymentMethod::KakaoPay));
        assert_eq!(read("PAKM", ""), Some(PaymentMethod::KakaoPay));
        assert_eq!(read("PABK", ""), Some(PaymentMethod::Transfer));
        assert_eq!((read("PACA", "OT21"), read("PAMC", "")), (None, None));
    }

    #[test]
    fn every_answer_to_a_cancellation_has_its_end() {
        let kcp = kcp();
        let look = |code: &str| Refund::Look(code.to_owned());
        for (code, void, refund) in [
            ("0000", Void::Done("VOIDED"), Refund::Made),
            ("8128", Void::Done("NOT_FOUND"), look("8128")),
            ("8133", Void::Look, look("8133")),
            ("8134", Void::Look, look("8134")),
            ("S032", Void::Look, look("S032")),
        ] {
            let reply = reply(&format!(r#"{{"res_cd":"{code}","res_msg":"…"}}"#));
            assert_eq!(kcp.read_void(&reply), void, "{code}");
            assert_eq!(kcp.read_refund(&reply), refund, "{code}");
        }
        assert_eq!(kcp.read_void(&reply("<html>")), Void::Again);
        // Their records settle each of these cases.
        let book = |left: &str| {
            let text = CHARGED.replace(r#""card_cd""#, &format!(r#""rem_mny":"{left}","card_cd""#));
            kcp.read_book(&reply(&text)).state
        };
        assert_eq!(book("0"), State::Closed("CANCELED".into()));
        assert_eq!((book("70000"), book("20000")), (State::Captured, State::Captured));
        assert_eq!(kcp.read_book(&reply(r#"{"res_cd":"8128"}"#)).state, State::Missing);
    }

    #[test]
    fn what_the_window_brings_back_becomes_the_approval() {
        let fields = |code: &str| {
            [
                ("res_cd", code),
                ("ordr_idxx", "0000000000000000000000000000000d"),
                ("tran_cd", "00100000"),
                ("enc_data", "d"),
                ("enc_info", "i"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
        };
        let kcp = kcp();
        let approval = kcp.returned(&fields("0000")).unwrap().approval.unwrap();
        let with = GatewayQuery { payment_key: Some(approval), ..ask() };
        assert!(kcp.capture(&with, Timestamp::from_ms(0)).is_ok());
        assert_eq!(kcp.returned(&fields("3001")).unwrap().approval, Err("3001".into()));
    }
}
