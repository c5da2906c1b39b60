//! KG Inicis: standard payment window on desktops, mobile page on phones, netCancel for unknown
//! outcomes, INIAPI v2 for refunds.

mod phone;

use crate::gateways::protocol::{
    Book, Call, CaptureReply, Content, GatewayProtocol, Refund, Reply, State, Void, cut, field,
    hex_digest, keep, pairs, text, won,
};
use crate::gateways::settings::InicisSettings;
use aws_lc_rs::digest::{SHA256, SHA512};
use podo_app::payments::port::gateway::{Device, Order, Returned};
use podo_app::payments::port::payments::{Checkout, DueRefund, GatewayQuery};
use podo_domain::payments::PaymentMethod;
use podo_domain::payments::deposits::RefundAccount;
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
    "CARD_SrcCode",
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

/// What the fan approved: the data centre, and the window's token or the mobile page's transaction.
struct Approval<'a> {
    device: Device,
    centre: &'a str,
    token: &'a str,
}

impl<'a> Approval<'a> {
    fn read(key: &'a str) -> Option<Approval<'a>> {
        let (kind, rest) = key.split_once(':')?;
        let device = match kind {
            "auth" => Device::Desktop,
            "mobile" => Device::Phone,
            _ => return None,
        };
        let (centre, token) = rest.split_once(':')?;
        CENTRES.contains(&centre).then_some(Approval { device, centre, token })
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

/// The window's names of methods. Easy pays are cards of one kind.
const fn window_method(method: PaymentMethod) -> &'static str {
    match method {
        PaymentMethod::KakaoPay => "onlykakaopay",
        PaymentMethod::NaverPay => "onlynaverpay",
        PaymentMethod::TossPay => "onlytosspay",
        PaymentMethod::Payco => "onlypayco",
        PaymentMethod::SamsungPay => "onlyssp",
        PaymentMethod::Transfer => "DirectBank",
        PaymentMethod::Card
        | PaymentMethod::VirtualAccount
        | PaymentMethod::Wallet
        | PaymentMethod::BoxOffice => "Card",
    }
}

/// By the kind of payment, and which app paid if it was a card.
fn paid_with(kind: &str, source: &str) -> Option<PaymentMethod> {
    match (kind.to_ascii_uppercase().as_str(), source) {
        ("DIRECTBANK" | "BANK", _) => Some(PaymentMethod::Transfer),
        ("CARD" | "VCARD", "") => Some(PaymentMethod::Card),
        ("CARD" | "VCARD", "O") => Some(PaymentMethod::KakaoPay),
        ("CARD" | "VCARD", "I") => Some(PaymentMethod::NaverPay),
        ("CARD" | "VCARD", "H") => Some(PaymentMethod::TossPay),
        ("CARD" | "VCARD", "C") => Some(PaymentMethod::Payco),
        ("CARD" | "VCARD", "B" | "D") => Some(PaymentMethod::SamsungPay),
        _ => None,
    }
}

fn read_charge(value: &Value) -> Book {
    let price = won(&value["TotPrice"]).unwrap_or(Won::ZERO);
    Book {
        captured: price,
        kept: keep(value, KEPT),
        reference: value["tid"].as_str().map(|tid| format!("tid:{tid}")),
        paid_with: paid_with(text(value, "payMethod"), text(value, "CARD_SrcCode")),
        ..Book::is(State::Captured)
    }
}

/// The code and the words of a netCancel's reply: of the window as JSON, of the mobile page as a form.
fn read_code(reply: &Reply) -> (String, String) {
    let value = reply.json();
    if value.is_object() {
        return (text(&value, "resultCode").to_owned(), text(&value, "resultMsg").to_owned());
    }
    let fields = pairs(&reply.text);
    let of = |name: &str| field(&fields, name).unwrap_or_default().to_owned();
    (of("P_STATUS"), of("P_RMESG1"))
}

impl GatewayProtocol for Inicis {
    const NAME: &'static str = "inicis";
    const PATIENCE: Duration = Duration::from_secs(30);

    const METHODS: &'static [PaymentMethod] = &[
        PaymentMethod::Card,
        PaymentMethod::KakaoPay,
        PaymentMethod::NaverPay,
        PaymentMethod::TossPay,
        PaymentMethod::Payco,
        PaymentMethod::SamsungPay,
        PaymentMethod::Transfer,
    ];

    fn checkout(&self, order: &Order<'_>, _registered: &Value) -> Option<Checkout> {
        let (gateway, url) = (Some(Self::NAME.into()), None);
        if order.device == Device::Phone {
            return Some(Checkout { gateway, url, data: Some(self.mobile_page(order)) });
        }
        let is_easy_pay = phone::direct_option(order.method).is_some();
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
            "gopaymethod": window_method(order.method),
            "acceptmethod": if is_easy_pay { "centerCd(Y):cardonly" } else { "centerCd(Y)" },
            "returnUrl": format!("{}/api/payment/return/inicis", self.home),
        });
        Some(Checkout { gateway, url, data: Some(data) })
    }

    fn capture(&self, ask: &GatewayQuery, now: Timestamp) -> Result<Call, String> {
        let approval = ask.payment_key.as_deref().and_then(Approval::read);
        let approval = approval.ok_or("INVALID_APPROVAL")?;
        Ok(match approval.device {
            Device::Desktop => self.window(&approval, "/api/payAuth", now),
            Device::Phone => self.mobile_capture(&approval),
        })
    }

    fn read_capture(&self, ask: &GatewayQuery, reply: &Reply) -> CaptureReply {
        if phone::is_of_phone(ask) {
            return phone::read_capture(ask, reply);
        }
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
        Book { captured: price, refunded, kept: keep(&value, KEPT), ..Book::is(state) }
    }

    /// netCancel cancels a charge whose answer was lost; it isn't a refund.
    fn void(&self, ask: &GatewayQuery, _book: Option<&Book>, now: Timestamp) -> Option<Call> {
        let approval = ask.payment_key.as_deref().and_then(Approval::read)?;
        Some(match approval.device {
            Device::Desktop => self.window(&approval, "/api/netCancel", now),
            Device::Phone => self.mobile_net_cancel(ask, &approval),
        })
    }

    /// Without the charge's transaction id their records can't be queried, so this reply decides.
    /// Their manual lists no codes for a netCancel that finds nothing to cancel; the message says
    /// it. Three minutes after the capture request nothing of it is in flight any more.
    fn read_void(&self, reply: &Reply) -> Void {
        let (code, words) = read_code(reply);
        let says = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
        match code.as_str() {
            "0000" | "00" if reply.is_ok() => Void::Done("VOIDED"),
            "" => Void::Again,
            _ if says(ALREADY_CANCELED) => Void::Done("ALREADY_CANCELED"),
            _ if says(NOTHING_TO_CANCEL) => Void::Done("NOTHING_TO_CANCEL"),
            _ => Void::Again,
        }
    }

    fn refund(
        &self,
        refund: &DueRefund,
        _account: Option<&RefundAccount>,
        now: Timestamp,
    ) -> Result<Call, String> {
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
        if field(fields, "P_STATUS").is_some() {
            return phone::returned(fields);
        }
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
mod tests;
