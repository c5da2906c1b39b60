//! Stripe's protocol with recorded replies.

use super::*;
use crate::gateways::protocol::test_order;
use aws_lc_rs::hmac;
use podo_app::payments::port::gateway::Device;
use podo_domain::RefundId;
use podo_domain::payments::refunds::InBook;
use uuid::Uuid;

const SECRET: &str = "whsec_aSecretOfAnEndpoint";

fn stripe() -> Stripe {
    let settings = StripeSettings {
        url: "https://api.stripe.com".into(),
        publishable_key: "pk_test_x".into(),
        secret_key: "sk_test_x".into(),
        webhook_secrets: vec!["whsec_theNextOne".into(), SECRET.into()],
    };
    Stripe::new(settings, "https://podo.example")
}

fn ask() -> GatewayQuery {
    GatewayQuery {
        payment: PaymentId::new(Uuid::from_u128(0xA)),
        gateway: "stripe".into(),
        method: PaymentMethod::Card,
        payment_key: Some("pi_3MtwBwLkdIwHu7ix28a3tqPa".into()),
        amount: Won::new(12_550).unwrap(),
        currency: Currency::Eur,
    }
}

fn reply(status: u16, text: &str) -> Reply {
    Reply { status, text: text.to_owned() }
}

fn now() -> Timestamp {
    Timestamp::from_ms(0)
}

const PAID: &str = r#"{"id":"pi_3MtwBwLkdIwHu7ix28a3tqPa","object":"payment_intent","amount":12550,
    "amount_received":12550,"currency":"eur","status":"succeeded","capture_method":"manual",
    "metadata":{"order_id":"0000000000000000000000000000000a"},
    "latest_charge":{"id":"ch_1","object":"charge","amount":12550,"amount_refunded":0,
    "billing_details":{"email":"fan@example.com"},
    "payment_method_details":{"card":{"brand":"visa","last4":"4242","country":"DE"}}}}"#;

fn fields(call: Call) -> Vec<(&'static str, String)> {
    let Content::Form(fields) = call.body else { panic!("not a form") };
    fields
}

#[test]
fn an_intent_has_the_amount_in_cents_and_our_order() {
    let mut order = test_order(PaymentMethod::Card, Device::Phone);
    (order.amount, order.currency) = (Won::new(12_550).unwrap(), Currency::Eur);
    let call = stripe().register(&order).unwrap();
    assert_eq!(call.url, "https://api.stripe.com/v1/payment_intents");
    let id = order.payment.order_id();
    assert!(call.headers.contains(&("idempotency-key", format!("{id}new"))));
    assert!(call.headers.contains(&("authorization", "Bearer sk_test_x".to_owned())));
    let sent = fields(call);
    for (name, value) in [
        ("amount", "12550"),
        ("currency", "eur"),
        ("capture_method", "manual"),
        ("metadata[order_id]", id.as_str()),
    ] {
        assert!(sent.contains(&(name, value.to_owned())), "{name}");
    }
    let made = json!({ "id": "pi_1", "client_secret": "pi_1_secret_2" });
    let data = stripe().checkout(&order, &made).unwrap().data.unwrap();
    assert_eq!(data["clientSecret"], "pi_1_secret_2");
    assert_eq!(data["publishableKey"], "pk_test_x");
    let back = format!("https://podo.example/api/payment/return/stripe?orderId={id}");
    assert_eq!(data["returnUrl"], back);
    assert!(stripe().checkout(&order, &json!({})).is_none(), "no secret, no form");
}

#[test]
fn a_capture_takes_exactly_the_amount_under_our_key() {
    let call = stripe().capture(&ask(), now()).unwrap();
    assert!(call.url.ends_with("/v1/payment_intents/pi_3MtwBwLkdIwHu7ix28a3tqPa/capture"));
    assert!(call.headers.contains(&("idempotency-key", ask().payment.order_id())));
    assert!(fields(call).contains(&("amount_to_capture", "12550".to_owned())));
    for odd in ["", "pi_", "pi_a/../b", "ch_1", "pi_a?b"] {
        let odd = GatewayQuery { payment_key: Some(odd.into()), ..ask() };
        assert!(stripe().capture(&odd, now()).is_err());
    }
}

#[test]
fn a_success_is_captured_and_no_personal_field_is_kept() {
    let CaptureReply::Charged(book) = stripe().read_capture(&ask(), &reply(200, PAID)) else {
        panic!()
    };
    assert_eq!((book.state, book.captured.get()), (State::Captured, 12_550));
    assert_eq!(book.subject, Some((Some(ask().payment), Some(Currency::Eur))));
    let kept = book.kept.unwrap();
    assert!(kept.contains("visa") && !kept.contains("4242") && !kept.contains("fan@"), "{kept}");
}

#[test]
fn an_intent_of_another_order_or_currency_never_settles_ours() {
    let other = GatewayQuery { payment: PaymentId::new(Uuid::from_u128(9)), ..ask() };
    assert_eq!(stripe().read_capture(&other, &reply(200, PAID)), CaptureReply::Look);
    let dollars = PAID.replace("eur", "usd");
    assert_eq!(stripe().read_capture(&ask(), &reply(200, &dollars)), CaptureReply::Look);
    let francs = stripe().read_book(&reply(200, &PAID.replace("eur", "chf")));
    assert_eq!(francs.subject, Some((Some(ask().payment), None)));
}

#[test]
fn a_refusal_is_final_and_doubt_is_not() {
    let error = |status, code: &str| {
        let text = format!(r#"{{"error":{{"code":"{code}","type":"t","message":"…"}}}}"#);
        stripe().read_capture(&ask(), &reply(status, &text))
    };
    let no = |code: &str| CaptureReply::Refused(code.to_owned());
    for (status, code) in [
        (402, "card_declined"),
        (402, "expired_card"),
        (400, "charge_expired_for_capture"),
        (400, "amount_too_large"),
        (401, "api_key_expired"),
        (404, "resource_missing"),
    ] {
        assert_eq!(error(status, code), no(code));
    }
    for (status, code) in [
        (400, "payment_intent_unexpected_state"),
        (409, "idempotency_key_in_use"),
        (429, "rate_limit"),
        (429, "lock_timeout"),
        (500, "card_declined"),
    ] {
        assert_eq!(error(status, code), CaptureReply::Look, "{code}");
    }
    assert_eq!(stripe().read_capture(&ask(), &reply(400, "<html>")), CaptureReply::Look);
}

#[test]
fn the_book_tells_what_was_charged_and_what_went_back() {
    let read = |status: &str, refunded: i64| {
        let text = PAID
            .replace("succeeded", status)
            .replace(r#""amount_refunded":0"#, &format!(r#""amount_refunded":{refunded}"#));
        let book = stripe().read_book(&reply(200, &text));
        (book.state, book.captured.get(), book.refunded.get())
    };
    assert_eq!(read("succeeded", 5_000), (State::Captured, 12_550, 5_000));
    assert_eq!(read("succeeded", 12_550), (State::Closed("REFUNDED".into()), 12_550, 12_550));
    assert_eq!(read("canceled", 0).0, State::Closed("CANCELED".into()));
    for open in ["requires_payment_method", "requires_action", "requires_capture", "processing"] {
        assert_eq!(read(open, 0).0, State::Open, "{open}");
    }
    assert_eq!(read("of_next_year", 0).0, State::Unreadable);
    let bare = PAID.replace(r#""latest_charge":{"#, r#""other":{"#);
    assert_eq!(stripe().read_book(&reply(200, &bare)).state, State::Unreadable, "no charge");
    let missing = reply(404, r#"{"error":{"code":"resource_missing","type":"x"}}"#);
    assert_eq!(stripe().read_book(&missing).state, State::Missing);
    assert_eq!(stripe().read_book(&reply(401, "{}")).state, State::Unreadable);
}

#[test]
fn an_intent_is_found_by_its_id_or_by_our_order() {
    let url = |ask: &GatewayQuery| stripe().find(ask, now()).unwrap().url;
    let by_id = "https://api.stripe.com/v1/payment_intents/pi_3MtwBwLkdIwHu7ix28a3tqPa";
    assert!(url(&ask()).starts_with(by_id));
    let unnamed = GatewayQuery { payment_key: None, ..ask() };
    assert!(url(&unnamed).contains("/search?query=metadata"), "{}", url(&unnamed));
    assert!(url(&unnamed).contains(&ask().payment.order_id()));
    let found = format!(r#"{{"object":"search_result","data":[{PAID}]}}"#);
    assert_eq!(stripe().read_book(&reply(200, &found)).state, State::Captured);
    let none = reply(200, r#"{"object":"search_result","data":[]}"#);
    assert_eq!(stripe().read_book(&none).state, State::Missing);
}

#[test]
fn every_answer_to_a_cancellation_has_its_end() {
    for (status, code, end) in [
        (400, "payment_intent_unexpected_state", Void::Look),
        (404, "resource_missing", Void::Done("NOT_FOUND")),
        (409, "idempotency_key_in_use", Void::Again),
        (429, "rate_limit", Void::Again),
        (429, "lock_timeout", Void::Again),
        (401, "api_key_expired", Void::Again),
        (500, "api_error", Void::Again),
    ] {
        let text = format!(r#"{{"error":{{"code":"{code}","type":"x"}}}}"#);
        assert_eq!(stripe().read_void(&reply(status, &text)), end, "{code}");
    }
    let canceled = PAID.replace("succeeded", "canceled");
    assert_eq!(stripe().read_void(&reply(200, &canceled)), Void::Done("VOIDED"));
    assert_eq!(stripe().read_void(&reply(200, PAID)), Void::Look);
    assert_eq!(stripe().read_void(&reply(502, "<html>")), Void::Again);
    let call = stripe().void(&ask(), None, now()).unwrap();
    assert!(call.url.ends_with("/cancel") && call.may_repeat);
    assert!(!call.headers.iter().any(|(name, _)| *name == "idempotency-key"));
}

#[test]
fn every_answer_to_a_refund_has_its_end() {
    let look = |code: &str, status: u16| Refund::Look(format!("{status} {code}"));
    let wait = |code: &str, status: u16| Refund::Later(format!("{status} {code}"));
    for (status, code, end) in [
        (400, "charge_already_refunded", look as fn(&str, u16) -> Refund),
        (400, "amount_too_large", look),
        (400, "charge_disputed", wait),
        (400, "charge_not_refundable", wait),
        (400, "refund_disputed_payment", wait),
        (400, "balance_insufficient", wait),
        (404, "resource_missing", wait),
        (409, "idempotency_key_in_use", wait),
        (429, "rate_limit", wait),
        (429, "lock_timeout", wait),
        (401, "api_key_expired", wait),
        (500, "api_error", look),
    ] {
        let text = format!(r#"{{"error":{{"code":"{code}","type":"x"}}}}"#);
        assert_eq!(stripe().read_refund(&reply(status, &text)), end(code, status), "{code}");
    }
    // "Refund amount is greater than unrefunded amount" has no code.
    let bare = reply(400, r#"{"error":{"type":"invalid_request_error","param":"amount"}}"#);
    assert_eq!(stripe().read_refund(&bare), look("invalid_request_error", 400));
    for (status, end) in [
        ("succeeded", Refund::Made),
        ("pending", Refund::Made),
        ("requires_action", Refund::Look("requires_action".into())),
        ("failed", Refund::Look("failed".into())),
        ("canceled", Refund::Look("canceled".into())),
    ] {
        let text = format!(r#"{{"id":"re_1","object":"refund","status":"{status}"}}"#);
        assert_eq!(stripe().read_refund(&reply(200, &text)), end);
    }
}

#[test]
fn a_refund_names_its_amount_under_its_own_key() {
    let refund = DueRefund {
        refund: RefundId::new(Uuid::from_u128(3)),
        payment: ask().payment,
        gateway: "stripe".into(),
        method: PaymentMethod::Card,
        payment_key: ask().payment_key,
        amount: Won::new(5_020).unwrap(),
        currency: Currency::Eur,
        reason: "못 가요".into(),
        number: 1,
        captured: Won::new(12_550).unwrap(),
        in_book: InBook {
            amount: Won::new(5_020).unwrap(),
            refunded_before: Won::ZERO,
            book_before: None,
        },
        account: None,
        attempts: 1,
    };
    let call = stripe().refund(&refund, None, now()).unwrap();
    let key = refund.refund.uuid().simple().to_string();
    assert!(call.headers.contains(&("idempotency-key", key)));
    assert!(fields(call).contains(&("amount", "5020".to_owned())));
    let unknown = DueRefund { payment_key: None, ..refund };
    assert!(stripe().refund(&unknown, None, now()).is_err());
}

fn signed(body: &str, stamp: i64) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
    let signature = hmac::sign(&key, format!("{stamp}.{body}").as_bytes());
    let hex: String = signature.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={stamp},v1={hex},v0=ab")
}

#[test]
fn a_signed_webhook_names_an_order_and_anything_else_is_forged() {
    let body = r#"{"id":"evt_1","type":"payment_intent.succeeded","data":{"object":{"id":"pi_1",
        "metadata":{"order_id":"0000000000000000000000000000000a"}}}}"#;
    let read = |header: String, body: &str, now_s: i64| {
        let headers = [("Stripe-Signature".to_owned(), header)];
        let now = Timestamp::from_ms(now_s * 1_000);
        stripe().hint(&Delivery { headers: &headers, body: body.as_bytes(), now })
    };
    let hint = read(signed(body, 1_000), body, 1_000).unwrap();
    assert_eq!((hint.id.as_str(), hint.payment), ("evt_1", Some(ask().payment)));
    assert_eq!(hint.kind, "payment_intent.succeeded");
    assert!(read(signed(body, 1_000), body, 1_300).is_ok());
    let forged = Err(Refusal::WebhookInvalid);
    assert_eq!(read(signed(body, 1_000), body, 1_301), forged, "too old");
    assert_eq!(read(signed(body, 1_000), body, 699), forged, "too new");
    assert_eq!(read(signed(body, 1_000), &body.replace("evt_1", "evt_2"), 1_000), forged);
    assert_eq!(read("t=1000,v1=00".into(), body, 1_000), forged);
    assert_eq!(read("t=1000".into(), body, 1_000), forged);
    assert_eq!(read(signed(body, 1_000).replace("t=1000", "t=1001"), body, 1_000), forged);
    let old_scheme = signed(body, 1_000).replace("v1=", "v0=");
    assert_eq!(read(old_scheme, body, 1_000), forged);
    let delivery = Delivery { headers: &[], body: body.as_bytes(), now: now() };
    assert_eq!(stripe().hint(&delivery), forged, "unsigned");
}

#[test]
fn a_browser_brings_back_the_intent_or_why_not() {
    let back = |pairs: &[(&str, &str)]| {
        let fields: Vec<(String, String)> =
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        stripe().returned(&fields)
    };
    let order = ("orderId", "0000000000000000000000000000000a");
    let intent = ("payment_intent", "pi_1");
    let approved = back(&[order, intent, ("redirect_status", "succeeded")]).unwrap();
    assert_eq!((approved.payment, approved.approval), (ask().payment, Ok("pi_1".to_owned())));
    let failed = back(&[order, intent, ("redirect_status", "failed")]).unwrap();
    assert_eq!(failed.approval, Err("failed".to_owned()));
    assert_eq!(back(&[order]).unwrap().approval, Err("CANCELED".to_owned()));
    assert_eq!(back(&[intent]), None, "no order of ours");
}
