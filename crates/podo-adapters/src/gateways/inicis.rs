//! KG Inicis: standard payment window, netCancel for unknown outcomes, INIAPI v2 for refunds.

use crate::gateways::protocol::{
    Book, Call, CaptureReply, Content, GatewayProtocol, Refund, Reply, State, Void, cut, field,
    hex_digest, keep, text, won,
};
use crate::gateways::settings::InicisSettings;
use aws_lc_rs::digest::{SHA256, SHA512};
use podo_app::payments::port::gateway::{Order, Returned};
use podo_app::payments::port::payments::{Checkout, DueRefund, GatewayQuery};
use podo_domain::{PaymentId, Timestamp, Won};
use serde_json::{Value, json};
use std::time::Duration;

const KEPT: &[&str] = &[
    "resultCode",
    "tid",
    "MOID",
    "TotPrice",
    "payMethod",
    "applDate",
    "applTime",
    "applNum",
    "CARD_Code",
    "CARD_BankCode",
    "CARD_Quota",
    "status",
];

/// Their data centres. The browser says which one has the approval; only these names become part of
/// a URL.
const CENTRES: [&str; 3] = ["fc", "ks", "stg"];

/// Messages of a charge that is already canceled.
const ALREADY_CANCELED: &[&str] = &["이미 취소", "기취소", "취소된 거래", "취소 완료된"];

/// Messages of a cancellation without a charge.
const NOTHING_TO_CANCEL: &[&str] = &[
    "거래가 없",
    "거래내역이 없",
    "거래 내역이 없",
    "거래건이 없",
    "승인내역이 없",
    "승인 내역이 없",
    "존재하지 않",
    "원거래 없음",
    "원거래없음",
];

pub(super) struct Inicis {
    settings: InicisSettings,
    home: String,
}

/// The window's approval: the data centre and its token.
struct Approval<'a> {
    centre: &'a str,
    token: &'a str,
}

impl<'a> Approval<'a> {
    fn read(key: &'a str) -> Option<Approval<'a>> {
        let (centre, token) = key.strip_prefix("auth:")?.split_once(':')?;
        CENTRES.contains(&centre).then_some(Approval { centre, token })
    }
}

/// The charge's transaction id, once there is one.
fn charge(key: Option<&str>) -> Option<&str> {
    key.and_then(|key| key.strip_prefix("tid:"))
}

impl Inicis {
    pub(super) fn new(settings: InicisSettings, home: &str) -> Inicis {
        Inicis { settings, home: home.to_owned() }
    }

    /// Capture and netCancel take the same fields.
    fn window(&self, approval: &Approval<'_>, path: &str, now: Timestamp) -> Call {
        let host = match &self.settings.pay_url {
            Some(url) => url.clone(),
            None => format!("https://{}stdpay.inicis.com", approval.centre),
        };
        let (token, stamp, key) = (approval.token, now.ms(), &self.settings.sign_key);
        let signature = hex_digest(&SHA256, &format!("authToken={token}&timestamp={stamp}"));
        let proof = format!("authToken={token}&signKey={key}&timestamp={stamp}");
        let body = Content::Form(vec![
            ("mid", self.settings.mid.clone()),
            ("authToken", token.to_owned()),
            ("timestamp", stamp.to_string()),
            ("signature", signature),
            ("verification", hex_digest(&SHA256, &proof)),
            ("charset", "UTF-8".to_owned()),
            ("format", "JSON".to_owned()),
        ]);
        // They refuse a second charge with one token, but don't repeat the first answer.
        Call { url: format!("{host}{path}"), headers: Vec::new(), body, may_repeat: false }
    }

    /// INIAPI: the hash covers the exact text of `data`.
    fn api(&self, kind: &str, data: &Value, now: Timestamp, may_repeat: bool) -> Call {
        let (mid, stamp) = (&self.settings.mid, now.seoul_stamp());
        let key = &self.settings.api_key;
        let hash = hex_digest(&SHA512, &format!("{key}{mid}{kind}{stamp}{data}"));
        let body = json!({
            "mid": mid, "type": kind, "timestamp": stamp, "clientIp": "127.0.0.1", "data": data,
            "hashData": hash,
        });
        let url = format!("{}/v2/pg/{kind}", self.settings.url);
        Call { url, headers: Vec::new(), body: Content::Json(body), may_repeat }
    }
}

fn read_charge(value: &Value) -> Book {
    let price = won(&value["TotPrice"]).unwrap_or(Won::ZERO);
    Book {
        state: State::Captured,
        captured: price,
        refunded: Won::ZERO,
        kept: keep(value, KEPT),
        reference: value["tid"].as_str().map(|tid| format!("tid:{tid}")),
    }
}

impl GatewayProtocol for Inicis {
    const NAME: &'static str = "inicis";
    const PATIENCE: Duration = Duration::from_secs(30);

    fn checkout(&self, order: &Order<'_>) -> Checkout {
        let (oid, price) = (order.payment.order_id(), order.amount.get());
        // The order's own time, since its id is of version 7.
        let stamp = order.payment.made_at().ms();
        let key = &self.settings.sign_key;
        let signed = format!("oid={oid}&price={price}&timestamp={stamp}");
        let proof = format!("oid={oid}&price={price}&signKey={key}&timestamp={stamp}");
        let host = if self.settings.url.contains("stg") { "stgstdpay" } else { "stdpay" };
        let data = json!({
            "scriptUrl": format!("https://{host}.inicis.com/stdjs/INIStdPay.js"),
            "version": "1.0",
            "mid": self.settings.mid,
            "oid": oid,
            "price": price.to_string(),
            "timestamp": stamp.to_string(),
            "use_chkfake": "Y",
            "signature": hex_digest(&SHA256, &signed),
            "verification": hex_digest(&SHA256, &proof),
            "mKey": hex_digest(&SHA256, key),
            "currency": "WON",
            "goodname": cut(order.name, 40),
            "gopaymethod": "Card",
            "returnUrl": format!("{}/api/payment/return/inicis", self.home),
        });
        Checkout { gateway: Some(Self::NAME.into()), url: None, data: Some(data) }
    }

    fn capture(&self, ask: &GatewayQuery, now: Timestamp) -> Result<Call, String> {
        let approval = ask.payment_key.as_deref().and_then(Approval::read);
        Ok(self.window(&approval.ok_or("INVALID_APPROVAL")?, "/api/payAuth", now))
    }

    fn read_capture(&self, ask: &GatewayQuery, reply: &Reply) -> CaptureReply {
        let value = reply.json();
        match text(&value, "resultCode") {
            "0000" if text(&value, "MOID") == ask.payment.order_id() => {
                CaptureReply::Charged(read_charge(&value))
            }
            "0000" | "" => CaptureReply::Unknown,
            code if reply.is_ok() => CaptureReply::Refused(code.to_owned()),
            _ => CaptureReply::Unknown,
        }
    }

    /// They can be queried only by the charge's transaction id, which a lost answer didn't tell us.
    fn find(&self, ask: &GatewayQuery, now: Timestamp) -> Option<Call> {
        let tid = charge(ask.payment_key.as_deref())?;
        Some(self.api("inquiry", &json!({ "tid": tid }), now, true))
    }

    /// `status` 0 is charged, 1 canceled, 2 partly canceled; `remainPrice` is the refundable rest.
    fn read_book(&self, reply: &Reply) -> Book {
        let value = reply.json();
        let price = won(&value["price"]).unwrap_or(Won::ZERO);
        let left = won(&value["remainPrice"]).unwrap_or(price);
        let state = match (text(&value, "resultCode"), text(&value, "status")) {
            ("00", "0" | "2") => State::Captured,
            ("00", "1") => State::Closed("CANCELED".into()),
            _ => return Book::is(State::Unreadable),
        };
        let refunded = price.checked_sub(left).unwrap_or(Won::ZERO);
        Book { state, captured: price, refunded, kept: keep(&value, KEPT), reference: None }
    }

    /// netCancel cancels a charge whose answer was lost; it isn't a refund.
    fn void(&self, ask: &GatewayQuery, _book: Option<&Book>, now: Timestamp) -> Option<Call> {
        let approval = ask.payment_key.as_deref().and_then(Approval::read)?;
        Some(self.window(&approval, "/api/netCancel", now))
    }

    /// Without the charge's transaction id their records can't be queried, so this reply decides.
    /// Their manual lists no codes for a netCancel that finds nothing to cancel; the message says
    /// it. Three minutes after the capture request nothing of it is in flight any more.
    fn read_void(&self, reply: &Reply) -> Void {
        let value = reply.json();
        let words = text(&value, "resultMsg");
        let says = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
        match text(&value, "resultCode") {
            "0000" if reply.is_ok() => Void::Done("VOIDED"),
            "" => Void::Again,
            _ if says(ALREADY_CANCELED) => Void::Done("ALREADY_CANCELED"),
            _ if says(NOTHING_TO_CANCEL) => Void::Done("NOTHING_TO_CANCEL"),
            _ => Void::Again,
        }
    }

    fn refund(&self, refund: &DueRefund, now: Timestamp) -> Result<Call, String> {
        let tid = charge(refund.payment_key.as_deref()).ok_or("the charge has no name")?;
        let message = cut(&refund.reason, 100);
        if refund.amount == refund.captured {
            return Ok(self.api("refund", &json!({ "tid": tid, "msg": message }), now, false));
        }
        let left = refund.left_before();
        let left = left.and_then(|left| left.checked_sub(refund.amount));
        let left = left.ok_or("more went back than came")?.get();
        let data = json!({
            "tid": tid, "msg": message, "price": refund.amount.get().to_string(),
            "confirmPrice": left.to_string(), "currency": "WON",
        });
        Ok(self.api("partialRefund", &data, now, false))
    }

    fn read_refund(&self, reply: &Reply) -> Refund {
        let value = reply.json();
        match text(&value, "resultCode") {
            "00" => Refund::Made,
            "" => Refund::Later(format!("{} without a code", reply.status)),
            code => Refund::Look(code.to_owned()),
        }
    }

    fn returned(&self, fields: &[(String, String)]) -> Option<Returned> {
        let order = field(fields, "orderNumber").or_else(|| field(fields, "MOID"))?;
        let payment = PaymentId::from_order_id(order)?;
        let code = field(fields, "resultCode").unwrap_or("NO_RESULT");
        let centre = field(fields, "idc_name").filter(|centre| CENTRES.contains(centre));
        let approval = match (code, centre, field(fields, "authToken")) {
            ("0000", Some(centre), Some(token)) => Ok(format!("auth:{centre}:{token}")),
            ("0000", _, _) => Err("INVALID_APPROVAL".to_owned()),
            (code, _, _) => Err(code.to_owned()),
        };
        Some(Returned { payment, approval })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn inicis() -> Inicis {
        let settings = InicisSettings {
            url: "https://stginiapi.inicis.com".into(),
            pay_url: None,
            mid: "INIpayTest".into(),
            sign_key: "sign".into(),
            api_key: "api".into(),
        };
        Inicis::new(settings, "https://podo.example")
    }

    fn ask(key: &str) -> GatewayQuery {
        GatewayQuery {
            payment: PaymentId::new(Uuid::from_u128(0xC)),
            gateway: "inicis".into(),
            payment_key: Some(key.into()),
            amount: Won::new(50_000).unwrap(),
        }
    }

    fn reply(text: &str) -> Reply {
        Reply { status: 200, text: text.to_owned() }
    }

    #[test]
    fn only_their_own_data_centres_are_called() {
        let now = Timestamp::from_ms(1_000);
        let call = inicis().capture(&ask("auth:ks:TOKEN"), now).unwrap();
        assert_eq!(call.url, "https://ksstdpay.inicis.com/api/payAuth");
        for odd in ["auth:evil.example/:T", "auth::T", "https://evil.example"] {
            assert!(inicis().capture(&ask(odd), now).is_err(), "{odd}");
        }
        let fields = |centre: &str| {
            [
                ("orderNumber", "0000000000000000000000000000000c"),
                ("resultCode", "0000"),
                ("authToken", "T"),
                ("idc_name", centre),
                ("authUrl", "https://evil.example"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
        };
        let returned = inicis().returned(&fields("fc")).unwrap();
        assert_eq!(returned.approval, Ok("auth:fc:T".into()));
        assert!(inicis().returned(&fields("evil")).unwrap().approval.is_err());
    }

    #[test]
    fn hashes_cover_what_the_manual_says() {
        let call = inicis().capture(&ask("auth:fc:T"), Timestamp::from_ms(7)).unwrap();
        let Content::Form(fields) = call.body else { panic!() };
        let of = |name| fields.iter().find(|(key, _)| *key == name).unwrap().1.clone();
        assert_eq!(of("signature"), hex_digest(&SHA256, "authToken=T&timestamp=7"));
        assert_eq!(of("verification"), hex_digest(&SHA256, "authToken=T&signKey=sign&timestamp=7"));
        let data = json!({ "tid": "x/y" });
        let call = inicis().api("refund", &data, Timestamp::from_ms(0), false);
        let Content::Json(body) = call.body else { panic!() };
        let hashed = r#"apiINIpayTestrefund19700101090000{"tid":"x/y"}"#;
        assert_eq!(body["hashData"], hex_digest(&SHA512, hashed), "slashes are not escaped");
    }

    #[test]
    fn every_answer_to_a_net_cancel_has_its_end() {
        let read =
            |status, text: &str| inicis().read_void(&Reply { status, text: text.to_owned() });
        let said = |code: &str, words: &str| {
            read(200, &format!(r#"{{"resultCode":"{code}","resultMsg":"{words}"}}"#))
        };
        assert_eq!(said("0000", "정상처리"), Void::Done("VOIDED"));
        for words in ["이미 취소된 거래입니다", "기취소 거래", "취소된 거래 입니다."]
        {
            assert_eq!(said("1012", words), Void::Done("ALREADY_CANCELED"), "{words}");
        }
        for words in ["취소할 거래가 없습니다", "인증 정보가 존재하지 않습니다", "원거래 없음"]
        {
            assert_eq!(said("1011", words), Void::Done("NOTHING_TO_CANCEL"), "{words}");
        }
        // Errors of theirs and ours settle nothing: an organiser can.
        for (code, words) in [("9999", "시스템 오류"), ("V013", "signature 불일치"), ("0001", "")]
        {
            assert_eq!(said(code, words), Void::Again, "{code}");
        }
        assert_eq!((read(500, ""), read(200, "<html>")), (Void::Again, Void::Again));
        assert_eq!(read(502, r#"{"resultCode":"0000"}"#), Void::Again);
    }

    #[test]
    fn every_answer_to_a_refund_has_its_end() {
        let said = |code: &str| {
            inicis().read_refund(&reply(&format!(r#"{{"resultCode":"{code}","resultMsg":"…"}}"#)))
        };
        assert_eq!(said("00"), Refund::Made);
        for code in ["01", "02", "03", "500626"] {
            assert_eq!(said(code), Refund::Look(code.into()), "{code}");
        }
        assert_eq!(
            inicis().read_refund(&reply("<html>")),
            Refund::Later("200 without a code".into())
        );
        let book = |status: &str, left: &str| {
            let text = format!(
                r#"{{"resultCode":"00","status":"{status}","price":"50000","remainPrice":"{left}"}}"#
            );
            let book = inicis().read_book(&reply(&text));
            (book.state, book.refunded.get())
        };
        assert_eq!(book("0", "50000"), (State::Captured, 0));
        assert_eq!(book("2", "20000"), (State::Captured, 30_000));
        assert_eq!(book("1", "0"), (State::Closed("CANCELED".into()), 50_000));
    }

    #[test]
    fn a_charge_must_be_of_our_order() {
        let text = r#"{"resultCode":"0000","resultMsg":"정상완료","tid":"StdpayCARD1",
            "MOID":"0000000000000000000000000000000c","TotPrice":"50000","applNum":"1",
            "CARD_Num":"433012*********1","payMethod":"Card"}"#;
        let CaptureReply::Charged(book) = inicis().read_capture(&ask("x"), &reply(text)) else {
            panic!()
        };
        assert_eq!((book.captured.get(), book.reference), (50_000, Some("tid:StdpayCARD1".into())));
        assert!(!book.kept.unwrap().contains("433012"));
        let foreign = text.replace("000c", "000d");
        assert_eq!(inicis().read_capture(&ask("x"), &reply(&foreign)), CaptureReply::Unknown);
        let no = reply(r#"{"resultCode":"V016","resultMsg":"한도초과"}"#);
        assert_eq!(inicis().read_capture(&ask("x"), &no), CaptureReply::Refused("V016".into()));
        assert_eq!(inicis().read_capture(&ask("x"), &reply("<html>")), CaptureReply::Unknown);
    }
}
