//! NHN KCP, with the registration of trades for phones.

use crate::gateways::protocol::{Reply, StandInRequest};
use crate::gateways::{Book, Charge, Order, Refunded, with_fault};
use serde_json::{Value, json};

pub(super) fn answer(book: &mut Book, asked: &StandInRequest) -> Option<Reply> {
    let body = asked.json();
    match asked.path.as_str() {
        "/std/tradeReg/register" => Some(register(&body)),
        "/gw/enc/v1/payment" => Some(charge(book, &body)),
        "/gw/mod/v1/cancel" => Some(cancel(book, &body)),
        "/std/inquery" => Some(inquiry(book, &body)),
        _ => None,
    }
}

fn code(code: &str) -> Reply {
    Reply::json(200, &json!({ "res_cd": code, "res_msg": code }))
}

/// The answer names the mobile page.
fn register(body: &Value) -> Reply {
    let is_known = matches!(body["pay_method"].as_str(), Some("CARD" | "BANK"));
    let is_whole = ["site_cd", "kcp_cert_info", "ordr_idxx", "good_mny", "good_name", "Ret_URL"]
        .into_iter()
        .all(|name| body[name].as_str().is_some_and(|it| !it.is_empty()));
    if !is_known || !is_whole {
        return Reply::json(200, &json!({ "Code": "8001", "Message": "invalid" }));
    }
    let page = "https://testsmpay.kcp.co.kr/pay/mobileGW.kcp";
    let key = format!("key{}", body["ordr_idxx"].as_str().unwrap_or_default());
    Reply::json(
        200,
        &json!({ "Code": "0000", "Message": "정상처리", "approvalKey": key, "PayUrl": page,
                 "traceNo": "T0000TEST", "paymentMethod": body["pay_method"] }),
    )
}

/// Their code of a trade's kind, and which easy pay it was.
fn kind(method: &str) -> (&'static str, &'static str) {
    match method {
        "TRANSFER" => ("PABK", ""),
        "KAKAO_PAY" => ("PACA", "OT13"),
        "NAVER_PAY" => ("PACA", "OT16"),
        "TOSS_PAY" => ("PACA", "OT23"),
        "PAYCO" => ("PACA", "OT12"),
        _ => ("PACA", ""),
    }
}

fn trade(id: &str, order: &Order) -> Value {
    let (pay_method, other) = kind(order.method);
    json!({
        "pay_method": pay_method, "card_other_pay_type": other,
        "res_cd": "0000", "tno": format!("tno{id}"), "order_no": id,
        "amount": order.captured.to_string(),
        "rem_mny": (order.captured - order.refunded).to_string(), "card_no": "4111111111111111",
    })
}

fn charge(book: &mut Book, body: &Value) -> Reply {
    let id = body["ordr_no"].as_str().unwrap_or_default();
    if body["enc_data"] != *id || body["kcp_cert_info"].as_str().is_none_or(|it| it.contains('\n'))
    {
        return code("S032");
    }
    // A trade is charged and found only under its own kind.
    if !is_of_kind(book, id, body) {
        return code("8128");
    }
    let amount = body["ordr_mony"].as_str().and_then(|text| text.parse().ok()).unwrap_or(0);
    let (charge, fault) = book.charge(id, amount);
    match charge {
        Charge::Done(_) => with_fault(Reply::json(200, &trade(id, &book.orders[id])), fault),
        Charge::Declined => code("8050"),
        Charge::Busy => Reply { status: 500, text: String::new(), ..code("") },
        Charge::Unknown => with_fault(code("8128"), fault),
    }
}

fn is_of_kind(book: &Book, id: &str, body: &Value) -> bool {
    book.orders.get(id).is_none_or(|order| body["pay_type"] == kind(order.method).0)
}

fn inquiry(book: &Book, body: &Value) -> Reply {
    let id = body["ordr_no"].as_str().unwrap_or_default();
    match book.orders.get(id).filter(|order| order.captured > 0 && is_of_kind(book, id, body)) {
        Some(order) => Reply::json(200, &trade(id, order)),
        None => code("8128"),
    }
}

fn cancel(book: &mut Book, body: &Value) -> Reply {
    let tno = body["tno"].as_str().unwrap_or_default();
    let id = tno.strip_prefix("tno").unwrap_or_default().to_owned();
    let Some(order) = book.orders.get(&id) else { return code("8128") };
    let left = order.captured - order.refunded;
    let number = |name: &str| body[name].as_str().and_then(|text| text.parse::<i64>().ok());
    if number("rem_mny").is_some_and(|seen| seen != left) {
        return code("8134");
    }
    match book.cancel(&id, number("mod_mny"), &body["mod_desc"]) {
        Refunded::Made => Reply::json(200, &trade(&id, &book.orders[&id])),
        Refunded::Vanished => Reply { is_dropped: true, ..code("") },
        Refunded::Dropped => Reply { is_dropped: true, ..code("0000") },
        Refunded::Failed => Reply { status: 500, text: String::new(), ..code("") },
        Refunded::Refused => code("8133"),
    }
}
