//! KG Inicis: the window's charge and netCancel as forms, INIAPI v2 as JSON.

use crate::gateways::protocol::{Reply, StandInRequest};
use crate::gateways::{Book, Charge, Fault, Refunded, with_fault};
use serde_json::{Value, json};

pub(super) fn answer(book: &mut Book, asked: &StandInRequest) -> Option<Reply> {
    match asked.path.as_str() {
        "/api/payAuth" => Some(charge(book, asked)),
        "/api/netCancel" => Some(net_cancel(book, asked)),
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

/// The token carries the order and, since the form doesn't, the amount.
fn order_of(asked: &StandInRequest) -> Option<(String, i64)> {
    let token = asked.form("authToken")?;
    let (order, amount) = token.split_once('-')?;
    Some((order.to_owned(), amount.parse().ok()?))
}

fn charge(book: &mut Book, asked: &StandInRequest) -> Reply {
    let Some((order, amount)) = order_of(asked) else { return code("V801") };
    let (charge, fault) = book.charge(&order, amount);
    match charge {
        Charge::Done(captured) => {
            let reply = json!({
                "resultCode": "0000", "tid": format!("tid{order}"), "MOID": order,
                "TotPrice": captured.to_string(), "payMethod": "Card",
                "CARD_Num": "4111111111111111",
            });
            with_fault(Reply::json(200, &reply), fault)
        }
        Charge::Declined => code("V016"),
        Charge::Busy => Reply { status: 500, ..code("") },
        Charge::Unknown => with_fault(code("V801"), fault),
    }
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
