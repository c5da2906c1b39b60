//! The mobile page of KG Inicis: a form opens it, `P_` fields come back, and calls with forms approve
//! or void.

use super::{Approval, CENTRES, Inicis, paid_with};
use crate::gateways::protocol::{
    Book, Call, CaptureReply, Content, Reply, State, cut, field, keep, pairs, won,
};
use podo_app::payments::port::gateway::{Device, Order, Returned};
use podo_app::payments::port::payments::GatewayQuery;
use podo_domain::payments::PaymentMethod;
use podo_domain::{PaymentId, Won};
use serde_json::{Map, Value, json};

const KEPT: &[&str] = &[
    "P_STATUS",
    "P_TID",
    "P_OID",
    "P_AMT",
    "P_TYPE",
    "P_AUTH_DT",
    "P_AUTH_NO",
    "P_FN_CD1",
    "P_CARD_ISSUER_CODE",
    "P_SRC_CODE",
];

/// The option that opens an easy pay directly.
pub(super) const fn direct_option(method: PaymentMethod) -> Option<&'static str> {
    match method {
        PaymentMethod::KakaoPay => Some("d_kakaopay=Y"),
        PaymentMethod::NaverPay => Some("d_npay=Y"),
        PaymentMethod::TossPay => Some("d_tosspay=Y"),
        PaymentMethod::Payco => Some("d_payco=Y"),
        PaymentMethod::SamsungPay => Some("d_samsungpay=Y"),
        PaymentMethod::Card
        | PaymentMethod::Transfer
        | PaymentMethod::VirtualAccount
        | PaymentMethod::Wallet
        | PaymentMethod::BoxOffice => None,
    }
}

impl Inicis {
    /// The form's address is `action`. Their answer doesn't carry the order's number, so the way back
    /// does.
    pub(super) fn mobile_page(&self, order: &Order<'_>) -> Value {
        let host = if self.settings.url.contains("stg") { "stgmobile" } else { "mobile" };
        let oid = order.payment.order_id();
        let is_transfer = order.method == PaymentMethod::Transfer;
        // `centerCd` makes them name the data centre that has the approval.
        let mut reserved = vec!["below1000=Y", "centerCd=Y"];
        reserved.extend(direct_option(order.method));
        json!({
            "action": format!("https://{host}.inicis.com/smart/payment/"),
            "P_INI_PAYMENT": if is_transfer { "BANK" } else { "CARD" },
            "P_MID": self.settings.mid,
            "P_OID": oid,
            "P_AMT": order.amount.get().to_string(),
            "P_GOODS": cut(order.name, 40),
            "P_UNAME": "Podo",
            "P_NOTI": oid,
            "P_NEXT_URL": format!("{}/api/payment/return/inicis?order={oid}", self.home),
            "P_CHARSET": "utf8",
            "P_RESERVED": reserved.join("&"),
        })
    }

    pub(super) fn mobile_capture(&self, approval: &Approval<'_>) -> Call {
        self.mobile_call(approval, "payReq", Vec::new())
    }

    /// Their manual asks for the order beside the transaction.
    pub(super) fn mobile_net_cancel(&self, ask: &GatewayQuery, approval: &Approval<'_>) -> Call {
        let order =
            vec![("P_AMT", ask.amount.get().to_string()), ("P_OID", ask.payment.order_id())];
        self.mobile_call(approval, "payNetCancel", order)
    }

    fn mobile_call(
        &self,
        approval: &Approval<'_>,
        verb: &str,
        more: Vec<(&'static str, String)>,
    ) -> Call {
        let host = match &self.settings.pay_url {
            Some(url) => url.clone(),
            None => format!("https://{}mobile.inicis.com", approval.centre),
        };
        let mut form =
            vec![("P_MID", self.settings.mid.clone()), ("P_TID", approval.token.to_owned())];
        form.extend(more);
        let (url, body) = (format!("{host}/smart/{verb}.ini"), Content::Form(form));
        Call { url, headers: Vec::new(), body, may_repeat: false }
    }
}

pub(super) fn is_of_phone(ask: &GatewayQuery) -> bool {
    let approval = ask.payment_key.as_deref().and_then(Approval::read);
    approval.is_some_and(|approval| approval.device == Device::Phone)
}

pub(super) fn read_capture(ask: &GatewayQuery, reply: &Reply) -> CaptureReply {
    let fields = pairs(&reply.text);
    let of = |name| field(&fields, name).unwrap_or_default();
    match of("P_STATUS") {
        "00" if of("P_OID") == ask.payment.order_id() => {
            CaptureReply::Charged(read_charge(&fields))
        }
        "00" | "" => CaptureReply::Unknown,
        code if reply.is_ok() => CaptureReply::Refused(code.to_owned()),
        _ => CaptureReply::Unknown,
    }
}

fn read_charge(fields: &[(String, String)]) -> Book {
    let of = |name| field(fields, name).unwrap_or_default();
    let as_json = |(name, value): &(String, String)| (name.clone(), json!(value));
    let value = Value::Object(fields.iter().map(as_json).collect::<Map<_, _>>());
    Book {
        captured: won(&value["P_AMT"]).unwrap_or(Won::ZERO),
        kept: keep(&value, KEPT),
        reference: field(fields, "P_TID").map(|tid| format!("tid:{tid}")),
        paid_with: paid_with(of("P_TYPE"), of("P_SRC_CODE")),
        ..Book::is(State::Captured)
    }
}

/// `P_REQ_URL` comes through the browser, so it only chooses among their data centres.
pub(super) fn returned(fields: &[(String, String)]) -> Option<Returned> {
    let order = field(fields, "order").or_else(|| field(fields, "P_NOTI"))?;
    let payment = PaymentId::from_order_id(order)?;
    let address = |centre: &str| format!("https://{centre}mobile.inicis.com/smart/payReq.ini");
    let is_named = |centre: &&str| match field(fields, "idc_name") {
        Some(name) => name == *centre,
        None => field(fields, "P_REQ_URL") == Some(&address(centre)),
    };
    let centre = CENTRES.into_iter().find(|centre| is_named(centre));
    let approval = match (field(fields, "P_STATUS"), centre, field(fields, "P_TID")) {
        (Some("00"), Some(centre), Some(tid)) => Ok(format!("mobile:{centre}:{tid}")),
        (Some("00"), _, _) => Err("INVALID_APPROVAL".to_owned()),
        (code, _, _) => Err(code.unwrap_or("NO_RESULT").to_owned()),
    };
    Some(Returned { payment, approval })
}
