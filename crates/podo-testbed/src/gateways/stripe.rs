//! Stripe: intents are captured by the merchant, and the first answer under a key is the answer.

use crate::gateways::protocol::{Reply, StandInRequest};
use crate::gateways::{Book, Charge, Fault, Refunded, with_fault};
use serde_json::{Value, json};

const PREFIX: &str = "pi_";

pub(super) fn answer(book: &mut Book, asked: &StandInRequest) -> Option<Reply> {
    let rest = asked.path.strip_prefix("/v1/")?;
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    if path != "refunds" && !path.starts_with("payment_intents") {
        return None;
    }
    if let Some(reply) = asked.key.as_ref().and_then(|key| book.answers.get(key)) {
        return Some(reply.clone());
    }
    let (reply, is_final) = match path.split('/').collect::<Vec<_>>()[..] {
        ["refunds"] => refund(book, asked),
        ["payment_intents"] => (create(book, asked), true),
        ["payment_intents", "search"] => (search(book, query), false),
        ["payment_intents", id] => (find(book, id), false),
        ["payment_intents", id, "capture"] => capture(book, id, asked),
        ["payment_intents", id, "cancel"] => (cancel(book, id), false),
        _ => return None,
    };
    if let (Some(key), true) = (&asked.key, is_final) {
        let kept = Reply { pause: std::time::Duration::ZERO, is_dropped: false, ..reply.clone() };
        book.answers.insert(key.clone(), kept);
    }
    Some(reply)
}

fn error(status: u16, code: &str) -> Reply {
    let kind = if status >= 500 { "api_error" } else { "invalid_request_error" };
    Reply::json(status, &json!({ "error": { "code": code, "type": kind, "message": code } }))
}

fn create(book: &mut Book, asked: &StandInRequest) -> Reply {
    let order = asked.form("metadata%5Border_id%5D").unwrap_or_default();
    let amount = asked.form("amount").and_then(|text| text.parse::<i64>().ok()).unwrap_or(0);
    let currency = asked.form("currency").unwrap_or_default();
    if asked.form("capture_method").as_deref() != Some("manual") || amount <= 0 {
        return error(400, "parameter_invalid_integer");
    }
    book.intents.insert(order.clone(), (amount, currency));
    Reply::json(200, &intent(book, &order))
}

fn intent(book: &Book, order: &str) -> Value {
    let (amount, currency) = book.intents.get(order).cloned().unwrap_or_default();
    let known = book.orders.get(order);
    let (captured, refunded) = known.map_or((0, 0), |it| (it.captured, it.refunded));
    let status = match known {
        None => "requires_payment_method",
        Some(it) if it.captured > 0 => "succeeded",
        Some(it) if it.is_voided => "canceled",
        Some(_) => "requires_capture",
    };
    let card = json!({ "brand": "visa", "last4": "1111", "number": "4111111111111111" });
    let charge = (captured > 0).then(|| {
        json!({ "id": format!("ch_{order}"), "object": "charge", "amount_refunded": refunded,
            "payment_method_details": { "card": card } })
    });
    json!({
        "id": format!("{PREFIX}{order}"), "object": "payment_intent", "status": status,
        "amount": amount, "amount_received": captured, "currency": currency,
        "client_secret": format!("{PREFIX}{order}_secret_x"), "latest_charge": charge,
        "metadata": { "order_id": order },
    })
}

/// The order of an intent that exists.
fn order_of<'i>(book: &Book, id: &'i str) -> Option<&'i str> {
    id.strip_prefix(PREFIX).filter(|order| book.intents.contains_key(*order))
}

fn find(book: &Book, id: &str) -> Reply {
    match order_of(book, id) {
        Some(order) => Reply::json(200, &intent(book, order)),
        None => error(404, "resource_missing"),
    }
}

fn search(book: &Book, query: &str) -> Reply {
    let found = book.intents.keys().find(|order| query.contains(order.as_str()));
    let data: Vec<Value> = found.into_iter().map(|order| intent(book, order)).collect();
    Reply::json(200, &json!({ "object": "search_result", "data": data, "has_more": false }))
}

fn capture(book: &mut Book, id: &str, asked: &StandInRequest) -> (Reply, bool) {
    let Some(order) = order_of(book, id) else { return (error(404, "resource_missing"), true) };
    let is_open = book.orders.get(order).is_some_and(|it| it.captured == 0 && !it.is_voided);
    let fault = book.orders.get(order).map_or(Fault::None, |it| it.fault);
    if !is_open && fault != Fault::Silent {
        return (error(400, "payment_intent_unexpected_state"), true);
    }
    let amount = asked.form("amount_to_capture").and_then(|text| text.parse().ok()).unwrap_or(0);
    match book.charge(order, amount) {
        (Charge::Done(_), Fault::Fails) => (error(500, "api_error"), true),
        (Charge::Done(_), fault) => {
            (with_fault(Reply::json(200, &intent(book, order)), fault), true)
        }
        (Charge::Declined, _) => (error(402, "card_declined"), true),
        (Charge::Busy, _) => (error(409, "idempotency_key_in_use"), false),
        (Charge::Unknown, fault) => (with_fault(error(500, "api_error"), fault), false),
    }
}

fn cancel(book: &mut Book, id: &str) -> Reply {
    let Some(order) = order_of(book, id) else { return error(404, "resource_missing") };
    match book.orders.get_mut(order) {
        Some(known) if known.captured > 0 || known.is_voided => {
            error(400, "payment_intent_unexpected_state")
        }
        Some(known) => {
            known.is_voided = true;
            Reply::json(200, &intent(book, order))
        }
        None => error(400, "payment_intent_unexpected_state"),
    }
}

fn refund(book: &mut Book, asked: &StandInRequest) -> (Reply, bool) {
    let id = asked.form("payment_intent").unwrap_or_default();
    let Some(order) = order_of(book, &id) else { return (error(404, "resource_missing"), true) };
    let amount = asked.form("amount").and_then(|text| text.parse().ok()).unwrap_or(0);
    let made = json!({ "id": format!("re_{order}"), "object": "refund", "status": "succeeded" });
    match book.refund(order, amount) {
        Refunded::Made => (Reply::json(200, &made), true),
        Refunded::Dropped => (Reply { is_dropped: true, ..Reply::json(200, &made) }, true),
        Refunded::Vanished => (Reply { is_dropped: true, ..error(500, "api_error") }, false),
        Refunded::Failed => (error(429, "lock_timeout"), false),
        Refunded::Refused => (error(400, "charge_already_refunded"), true),
    }
}
