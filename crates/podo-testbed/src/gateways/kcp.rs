//! NHN KCP.

use crate::gateways::protocol::{Reply, StandInRequest};
use crate::gateways::{Book, Charge, Order, Refunded, with_fault};
use serde_json::{Value, json};

pub(super) fn answer(book: &mut Book, asked: &StandInRequest) -> Option<Reply> {
    let body = asked.json();
    match asked.path.as_str() {
        "/gw/enc/v1/payment" => Some(charge(book, &body)),
        "/gw/mod/v1/cancel" => Some(cancel(book, &body)),
        "/std/inquery" => Some(inquiry(book, &body)),
        _ => None,
    }
}

fn code(code: &str) -> Reply {
    Reply::json(200, &json!({ "res_cd": code, "res_msg": code }))
}

fn trade(id: &str, order: &Order) -> Value {
    json!({
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
    let amount = body["ordr_mony"].as_str().and_then(|text| text.parse().ok()).unwrap_or(0);
    let (charge, fault) = book.charge(id, amount);
    match charge {
        Charge::Done(_) => with_fault(Reply::json(200, &trade(id, &book.orders[id])), fault),
        Charge::Declined => code("8050"),
        Charge::Busy => Reply { status: 500, text: String::new(), ..code("") },
        Charge::Unknown => with_fault(code("8128"), fault),
    }
}

fn inquiry(book: &Book, body: &Value) -> Reply {
    let id = body["ordr_no"].as_str().unwrap_or_default();
    match book.orders.get(id).filter(|order| order.captured > 0) {
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
