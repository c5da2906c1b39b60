//! KG Inicis: the window's and the mobile page's charge and netCancel as forms, INIAPI v2 as JSON.

use crate::gateways::protocol::{Reply, StandInRequest};
use crate::gateways::{Book, Charge, Fault, Refunded, with_fault};
use serde_json::{Value, json};

pub(super) fn answer(book: &mut Book, asked: &StandInRequest) -> Option<Reply> {
    match asked.path.as_str() {
        "/api/payAuth" => Some(charge(book, asked)),
        "/api/netCancel" => Some(net_cancel(book, asked)),
        "/smart/payReq.ini" => Some(charge_on_phone(book, asked)),
        "/smart/payNetCancel.ini" => Some(net_cancel_on_phone(book, asked)),
        path => {
            let kind = path.strip_prefix("/v2/pg/")?;
            let body = asked.json();
            let order = body["data"]["tid"].as_str()?.strip_prefix("tid")?.to_owned();
            Some(if kind == "inquiry" {
                inquiry(book, &order)
            } else {
                refund(book, &order, &body["data"])
            })
        }
    }
}

fn code(code: &str) -> Reply {
    Reply::json(200, &json!({ "resultCode": code, "resultMsg": code }))
}

/// The token or the transaction carries the order and, since the form doesn't, the amount.
fn order_of(asked: &StandInRequest) -> Option<(String, i64)> {
    let token = asked.form("authToken").or_else(|| asked.form("P_TID"))?;
    let (order, amount) = token.split_once('-')?;
    Some((order.to_owned(), amount.parse().ok()?))
}

fn charge(book: &mut Book, asked: &StandInRequest) -> Reply {
    let Some((order, amount)) = order_of(asked) else { return code("V801") };
    let (charge, fault) = book.charge(&order, amount);
    match charge {
        Charge::Done(captured) => {
            let (kind, source) = method_of(book.orders[&order].method);
            let reply = json!({
                "resultCode": "0000", "tid": format!("tid{order}"), "MOID": order,
                "TotPrice": captured.to_string(), "payMethod": kind, "CARD_SrcCode": source,
                "CARD_Num": "4111111111111111",
            });
            with_fault(Reply::json(200, &reply), fault)
        }
        Charge::Declined => code("V016"),
        Charge::Busy => Reply { status: 500, ..code("") },
        Charge::Unknown => with_fault(code("V801"), fault),
    }
}

/// The kind of payment, and which app paid.
fn method_of(method: &str) -> (&'static str, &'static str) {
    match method {
        "TRANSFER" => ("DirectBank", ""),
        "KAKAO_PAY" => ("Card", "O"),
        "NAVER_PAY" => ("Card", "I"),
        "TOSS_PAY" => ("Card", "H"),
        "PAYCO" => ("Card", "C"),
        "SAMSUNG_PAY" => ("Card", "B"),
        _ => ("Card", ""),
    }
}

/// A reply of the mobile page's calls: a form.
fn form(code: &str, words: &str, more: &str) -> Reply {
    let text = format!("P_STATUS={code}&P_RMESG1={words}{more}");
    Reply { text, ..Reply::json(200, &Value::Null) }
}

fn charge_on_phone(book: &mut Book, asked: &StandInRequest) -> Reply {
    let Some((order, amount)) = order_of(asked) else { return form("V801", "", "") };
    let (charge, fault) = book.charge(&order, amount);
    match charge {
        Charge::Done(captured) => {
            let (kind, source) = method_of(book.orders[&order].method);
            let kind = if kind == "Card" { "CARD" } else { "BANK" };
            let more = format!(
                "&P_TID=tid{order}&P_OID={order}&P_AMT={captured}&P_TYPE={kind}\
                 &P_SRC_CODE={source}&P_CARD_NUM=4111111111111111"
            );
            with_fault(form("00", "OK", &more), fault)
        }
        Charge::Declined => form("V016", "", ""),
        Charge::Busy => Reply { status: 500, ..form("", "", "") },
        Charge::Unknown => with_fault(form("V801", "", ""), fault),
    }
}

/// They ask for the order's number and amount beside the transaction.
fn net_cancel_on_phone(book: &mut Book, asked: &StandInRequest) -> Reply {
    let named = order_of(asked);
    let is_right = named.as_ref().is_some_and(|(order, amount)| {
        asked.form("P_OID").as_ref() == Some(order)
            && asked.form("P_AMT") == Some(amount.to_string())
    });
    if !is_right {
        return form("V802", "invalid", "");
    }
    let reply = net_cancel(book, asked);
    let value: Value = serde_json::from_str(&reply.text).unwrap_or(Value::Null);
    let code = if value["resultCode"] == "0000" { "00" } else { "01" };
    let words = encoded(value["resultMsg"].as_str().unwrap_or_default());
    Reply { is_dropped: reply.is_dropped, ..form(code, &words, "") }
}

fn encoded(words: &str) -> String {
    words.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn net_cancel(book: &mut Book, asked: &StandInRequest) -> Reply {
    let found = order_of(asked).and_then(|(order, _)| book.orders.get_mut(&order));
    let Some(order) = found else {
        return reply("V801", "인증 정보가 존재하지 않습니다");
    };
    if order.is_voided {
        return reply("1012", "이미 취소된 거래입니다");
    }
    order.is_voided = true;
    if order.captured == 0 {
        return reply("1011", "취소할 거래가 없습니다");
    }
    order.refunded = order.captured;
    // For a late order the first answer is lost: the next request finds it done.
    Reply { is_dropped: order.fault == Fault::AnswersLate, ..code("0000") }
}

fn reply(code: &str, words: &str) -> Reply {
    Reply::json(200, &json!({ "resultCode": code, "resultMsg": words }))
}

fn inquiry(book: &Book, order: &str) -> Reply {
    let Some(order) = book.orders.get(order) else { return code("01") };
    let status = match order.refunded {
        0 => "0",
        refunded if refunded == order.captured => "1",
        _ => "2",
    };
    let left = order.captured - order.refunded;
    Reply::json(
        200,
        &json!({ "resultCode": "00", "status": status, "price": order.captured.to_string(),
                 "remainPrice": left.to_string() }),
    )
}

fn refund(book: &mut Book, id: &str, data: &Value) -> Reply {
    let Some(order) = book.orders.get(id) else { return code("01") };
    let left = order.captured - order.refunded;
    let number = |name: &str| data[name].as_str().and_then(|text| text.parse::<i64>().ok());
    let amount = number("price").unwrap_or(left);
    if number("confirmPrice").is_some_and(|after| after != left - amount) {
        return code("02");
    }
    match book.refund(id, amount) {
        Refunded::Made => code("00"),
        Refunded::Vanished => Reply { is_dropped: true, ..code("") },
        Refunded::Dropped => Reply { is_dropped: true, ..code("00") },
        Refunded::Failed => Reply { status: 500, text: String::new(), ..code("") },
        Refunded::Refused => code("03"),
    }
}
