//! PortOne V2.

use crate::gateways::protocol::{Reply, StandInRequest};
use crate::gateways::{Book, Charge, Order, Refunded, with_fault};
use serde_json::{Value, json};

pub(super) fn answer(book: &mut Book, asked: &StandInRequest) -> Option<Reply> {
    if let Some(rest) = asked.path.strip_prefix("/identity-verifications/") {
        return Some(identity(book, rest.split('?').next().unwrap_or_default()));
    }
    let rest = asked.path.strip_prefix("/payments/")?;
    if let Some(reply) = asked.key.as_ref().and_then(|key| book.answers.get(key)) {
        return Some(reply.clone());
    }
    let (reply, is_final) = match rest.split_once('/') {
        Some((_, "pre-register")) => (Reply::json(200, &json!({})), true),
        Some((id, "confirm")) => confirm(book, id, &asked.json()),
        Some((id, close)) if close.starts_with("virtual-account/close") => {
            (close_account(book, id), true)
        }
        Some((id, "cancel")) => cancel(book, id, &asked.json()),
        Some(_) => return None,
        None => {
            let id = rest.split('?').next().unwrap_or_default();
            (find(book, id), false)
        }
    };
    if let (Some(key), true) = (&asked.key, is_final) {
        let kept = Reply { pause: std::time::Duration::ZERO, is_dropped: false, ..reply.clone() };
        book.answers.insert(key.clone(), kept);
    }
    Some(reply)
}

/// More personal data than we use, as in reality.
fn identity(book: &Book, id: &str) -> Reply {
    let Some((ci, di)) = book.persons.get(id) else {
        return error(404, "IDENTITY_VERIFICATION_NOT_FOUND");
    };
    let mut customer = json!({ "id": "customer", "name": "김포도", "operator": "SKT",
        "phoneNumber": "01012345678", "birthDate": "2000-01-01", "gender": "FEMALE",
        "isForeigner": false });
    for (field, value) in [("ci", ci), ("di", di)] {
        if let Some(value) = value {
            customer[field] = json!(value);
        }
    }
    Reply::json(
        200,
        &json!({ "status": "VERIFIED", "id": id, "verifiedCustomer": customer,
        "requestedAt": "2026-11-16T00:00:00Z", "updatedAt": "2026-11-16T00:00:00Z",
        "statusChangedAt": "2026-11-16T00:00:00Z", "verifiedAt": "2026-11-16T00:00:00Z",
        "pgTxId": "1", "pgRawResponse": "{}" }),
    )
}

fn error(status: u16, kind: &str) -> Reply {
    Reply::json(status, &json!({ "type": kind, "message": kind }))
}

fn confirm(book: &mut Book, id: &str, body: &Value) -> (Reply, bool) {
    if body["paymentToken"] != format!("tok_{id}") {
        return (error(400, "INVALID_PAYMENT_TOKEN"), true);
    }
    let (charge, fault) = book.charge(id, body["totalAmount"].as_i64().unwrap_or(0));
    match charge {
        Charge::Done(_) => {
            let paid = json!({ "payment": { "pgTxId": "1", "paidAt": "2026-11-16T00:00:00Z" } });
            (with_fault(Reply::json(200, &paid), fault), true)
        }
        Charge::Declined => (error(502, "PG_PROVIDER"), true),
        Charge::Busy => (error(409, "IDEMPOTENCY_OUTSTANDING_REQUEST"), false),
        Charge::Unknown => (with_fault(error(404, "PAYMENT_NOT_FOUND"), fault), false),
    }
}

fn payment(id: &str, order: &Order) -> Value {
    let status = match (order.captured, order.refunded) {
        _ if order.is_voided => "CANCELLED",
        (0, _) if order.fault == crate::gateways::Fault::Declines && order.n_asked > 0 => "FAILED",
        _ if order.is_awaiting() => "VIRTUAL_ACCOUNT_ISSUED",
        (0, _) => "READY",
        (captured, refunded) if captured == refunded => "CANCELLED",
        (_, 0) => "PAID",
        _ => "PARTIAL_CANCELLED",
    };
    json!({
        "status": status, "id": id, "transactionId": "tx", "currency": "KRW",
        "channel": { "type": "TEST", "pgProvider": "KCP_V2" },
        "method": method_of(order.method),
        "amount": { "total": order.captured.max(order.issued), "paid": order.captured - order.refunded,
                    "cancelled": order.refunded },
    })
}

fn method_of(method: &str) -> Value {
    let card = json!({ "number": "4111111111111111" });
    match method {
        "CARD" => json!({ "type": "PaymentMethodCard", "card": card }),
        "VIRTUAL_ACCOUNT" => json!({ "type": "PaymentMethodVirtualAccount", "bank": "SHINHAN",
            "accountNumber": "56211234567890", "remitteeName": "포도" }),
        "TRANSFER" => json!({ "type": "PaymentMethodTransfer", "bank": "SHINHAN" }),
        easy_pay => json!({ "type": "PaymentMethodEasyPay",
                            "provider": easy_pay.replace('_', ""), "method": { "card": card } }),
    }
}

fn find(book: &Book, id: &str) -> Reply {
    match book.orders.get(id) {
        Some(order) => Reply::json(200, &payment(id, order)),
        None => error(404, "PAYMENT_NOT_FOUND"),
    }
}

/// Only an account that waits for its deposit can be closed.
fn close_account(book: &mut Book, id: &str) -> Reply {
    match book.orders.get_mut(id) {
        Some(order) if order.is_awaiting() => {
            order.is_voided = true;
            Reply::json(200, &json!({ "closedAt": "2026-11-16T00:00:00Z" }))
        }
        Some(_) => error(409, "PAYMENT_NOT_WAITING_FOR_DEPOSIT"),
        None => error(404, "PAYMENT_NOT_FOUND"),
    }
}

fn cancel(book: &mut Book, id: &str, body: &Value) -> (Reply, bool) {
    let Some(order) = book.orders.get_mut(id) else {
        return (error(404, "PAYMENT_NOT_FOUND"), true);
    };
    if order.captured == 0 {
        order.is_voided = true;
        return (error(409, "PAYMENT_NOT_PAID"), true);
    }
    if !order.may_refund_to(&body["refundAccount"]["number"]) {
        return (error(400, "INVALID_REQUEST"), true);
    }
    let left = order.captured - order.refunded;
    if body["currentCancellableAmount"].as_i64().is_some_and(|seen| seen != left) {
        return (error(409, "CANCELLABLE_AMOUNT_CONSISTENCY_BROKEN"), true);
    }
    let made = json!({ "cancellation": { "status": "SUCCEEDED", "id": "c" } });
    match book.cancel(id, body["amount"].as_i64(), &body["reason"]) {
        Refunded::Made => (Reply::json(200, &made), true),
        Refunded::Dropped => (Reply { is_dropped: true, ..Reply::json(200, &made) }, true),
        Refunded::Vanished => (Reply { is_dropped: true, ..error(502, "") }, false),
        Refunded::Failed => (error(502, "PG_PROVIDER"), false),
        Refunded::Refused => (error(409, "PAYMENT_ALREADY_CANCELLED"), true),
    }
}
