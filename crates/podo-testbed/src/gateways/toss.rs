//! Toss Payments.

use crate::gateways::protocol::{Reply, StandInRequest};
use crate::gateways::{Book, Charge, Order, Refunded, with_fault};
use serde_json::{Value, json};

const PREFIX: &str = "tk_";

pub(super) fn answer(book: &mut Book, asked: &StandInRequest) -> Option<Reply> {
    let rest = asked.path.strip_prefix("/v1/payments/")?;
    if let Some(reply) = asked.key.as_ref().and_then(|key| book.answers.get(key)) {
        return Some(reply.clone());
    }
    let (reply, is_final) = if rest == "confirm" {
        confirm(book, &asked.json())
    } else if let Some(order) = rest.strip_prefix("orders/") {
        (find(book, order), false)
    } else {
        let order = rest.strip_suffix("/cancel")?.strip_prefix(PREFIX)?;
        cancel(book, order, &asked.json())
    };
    // The first answer under a key is final, errors included, however it is delivered.
    if let (Some(key), true) = (&asked.key, is_final) {
        let kept = Reply { pause: std::time::Duration::ZERO, is_dropped: false, ..reply.clone() };
        book.answers.insert(key.clone(), kept);
    }
    Some(reply)
}

fn error(status: u16, code: &str) -> Reply {
    Reply::json(status, &json!({ "code": code, "message": code }))
}

fn confirm(book: &mut Book, body: &Value) -> (Reply, bool) {
    let order = body["orderId"].as_str().unwrap_or_default();
    let is_approved = body["paymentKey"] == format!("{PREFIX}{order}");
    if !is_approved {
        return (error(404, "NOT_FOUND_PAYMENT_SESSION"), true);
    }
    let (charge, fault) = book.charge(order, body["amount"].as_i64().unwrap_or(0));
    match charge {
        Charge::Done(_) => {
            let reply = Reply::json(200, &payment(order, &book.orders[order]));
            (with_fault(reply, fault), true)
        }
        Charge::Declined => (error(403, "REJECT_CARD_PAYMENT"), true),
        Charge::Busy => (error(409, "IDEMPOTENT_REQUEST_PROCESSING"), false),
        Charge::Unknown => (with_fault(error(404, "NOT_FOUND_PAYMENT_SESSION"), fault), false),
    }
}

fn payment(id: &str, order: &Order) -> Value {
    let status = match (order.captured, order.refunded) {
        _ if order.is_voided => "CANCELED",
        _ if order.is_awaiting() => "WAITING_FOR_DEPOSIT",
        (0, _) => "IN_PROGRESS",
        (captured, refunded) if captured == refunded => "CANCELED",
        (_, 0) => "DONE",
        _ => "PARTIAL_CANCELED",
    };
    let (method, provider) = method_of(order.method);
    let total = order.captured.max(order.issued);
    json!({
        "version": "2022-11-16", "paymentKey": format!("{PREFIX}{id}"), "orderId": id,
        "currency": "KRW", "method": method, "status": status, "totalAmount": total,
        "balanceAmount": if order.is_voided { 0 } else { total - order.refunded },
        "virtualAccount": { "bankCode": "88", "accountNumber": "56211234567890",
            "customerName": "김포도", "dueDate": null },
        "card": { "number": "4111111111111111", "issuerCode": "61" },
        "easyPay": { "provider": provider },
    })
}

/// In the words of their replies.
fn method_of(method: &str) -> (&'static str, Option<&'static str>) {
    match method {
        "CARD" => ("카드", None),
        "TRANSFER" => ("계좌이체", None),
        "VIRTUAL_ACCOUNT" => ("가상계좌", None),
        "KAKAO_PAY" => ("간편결제", Some("카카오페이")),
        "NAVER_PAY" => ("간편결제", Some("네이버페이")),
        "TOSS_PAY" => ("간편결제", Some("토스페이")),
        "PAYCO" => ("간편결제", Some("페이코")),
        _ => ("간편결제", Some("삼성페이")),
    }
}

fn find(book: &Book, id: &str) -> Reply {
    match book.orders.get(id) {
        Some(order) => Reply::json(200, &payment(id, order)),
        None => error(404, "NOT_FOUND_PAYMENT"),
    }
}

fn cancel(book: &mut Book, id: &str, body: &Value) -> (Reply, bool) {
    let Some(order) = book.orders.get_mut(id) else {
        return (error(404, "NOT_FOUND_PAYMENT"), true);
    };
    if order.captured == 0 {
        order.is_voided = true;
        return (Reply::json(200, &payment(id, order)), true);
    }
    if !order.may_refund_to(&body["refundReceiveAccount"]["accountNumber"]) {
        return (error(400, "INVALID_REFUND_ACCOUNT_INFO"), true);
    }
    match book.cancel(id, body["cancelAmount"].as_i64(), &body["cancelReason"]) {
        Refunded::Made => (Reply::json(200, &payment(id, &book.orders[id])), true),
        Refunded::Dropped => {
            let reply = Reply::json(200, &payment(id, &book.orders[id]));
            (Reply { is_dropped: true, ..reply }, true)
        }
        Refunded::Vanished => (Reply { is_dropped: true, ..error(500, "") }, false),
        Refunded::Failed => (error(500, "FAILED_REFUND_PROCESS"), false),
        Refunded::Refused => (error(403, "NOT_CANCELABLE_AMOUNT"), true),
    }
}
