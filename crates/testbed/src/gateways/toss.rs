//! Toss Payments.

use super::wire::{Asked, Said};
use super::{Book, Charge, Order, Refunded, with_fault};
use serde_json::{Value, json};

const PREFIX: &str = "tk_";

pub(super) fn answer(book: &mut Book, asked: &Asked) -> Option<Said> {
    let rest = asked.path.strip_prefix("/v1/payments/")?;
    if let Some(said) = asked.key.as_ref().and_then(|key| book.answers.get(key)) {
        return Some(said.clone());
    }
    let (said, is_final) = if rest == "confirm" {
        confirm(book, &asked.json())
    } else if let Some(order) = rest.strip_prefix("orders/") {
        (find(book, order), false)
    } else {
        let order = rest.strip_suffix("/cancel")?.strip_prefix(PREFIX)?;
        cancel(book, order, &asked.json())
    };
    // The first answer under a key is the answer, errors too; how it went out is another matter.
    if let (Some(key), true) = (&asked.key, is_final) {
        let kept = Said { pause: std::time::Duration::ZERO, is_dropped: false, ..said.clone() };
        book.answers.insert(key.clone(), kept);
    }
    Some(said)
}

fn error(status: u16, code: &str) -> Said {
    Said::json(status, &json!({ "code": code, "message": code }))
}

fn confirm(book: &mut Book, body: &Value) -> (Said, bool) {
    let order = body["orderId"].as_str().unwrap_or_default();
    let is_approved = body["paymentKey"] == format!("{PREFIX}{order}");
    if !is_approved {
        return (error(404, "NOT_FOUND_PAYMENT_SESSION"), true);
    }
    let (charge, fault) = book.charge(order, body["amount"].as_i64().unwrap_or(0));
    match charge {
        Charge::Done(_) => {
            let said = Said::json(200, &payment(order, &book.orders[order]));
            (with_fault(said, fault), true)
        }
        Charge::Declined => (error(403, "REJECT_CARD_PAYMENT"), true),
        Charge::Busy => (error(409, "IDEMPOTENT_REQUEST_PROCESSING"), false),
        Charge::Unknown => (with_fault(error(404, "NOT_FOUND_PAYMENT_SESSION"), fault), false),
    }
}

fn payment(id: &str, order: &Order) -> Value {
    let status = match (order.captured, order.refunded) {
        _ if order.is_voided => "CANCELED",
        (0, _) => "IN_PROGRESS",
        (captured, refunded) if captured == refunded => "CANCELED",
        (_, 0) => "DONE",
        _ => "PARTIAL_CANCELED",
    };
    json!({
        "version": "2022-11-16", "paymentKey": format!("{PREFIX}{id}"), "orderId": id,
        "currency": "KRW", "method": "카드", "status": status, "totalAmount": order.captured,
        "balanceAmount": order.captured - order.refunded,
        "card": { "number": "4111111111111111", "issuerCode": "61" },
    })
}

fn find(book: &Book, id: &str) -> Said {
    match book.orders.get(id) {
        Some(order) => Said::json(200, &payment(id, order)),
        None => error(404, "NOT_FOUND_PAYMENT"),
    }
}

fn cancel(book: &mut Book, id: &str, body: &Value) -> (Said, bool) {
    let Some(order) = book.orders.get_mut(id) else {
        return (error(404, "NOT_FOUND_PAYMENT"), true);
    };
    if order.captured == 0 {
        order.is_voided = true;
        return (Said::json(200, &payment(id, order)), true);
    }
    match book.cancel(id, body["cancelAmount"].as_i64(), &body["cancelReason"]) {
        Refunded::Made => (Said::json(200, &payment(id, &book.orders[id])), true),
        Refunded::Dropped => {
            let said = Said::json(200, &payment(id, &book.orders[id]));
            (Said { is_dropped: true, ..said }, true)
        }
        Refunded::Vanished => (Said { is_dropped: true, ..error(500, "") }, false),
        Refunded::Failed => (error(500, "FAILED_REFUND_PROCESS"), false),
        Refunded::Refused => (error(403, "NOT_CANCELABLE_AMOUNT"), true),
    }
}
