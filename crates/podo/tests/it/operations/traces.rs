//! A sampled request appears at the collector, with everything that its messages caused.

use crate::support::client::send;
use crate::support::world::{PRICE, Plan, World, until};
use podo_testbed::PostBox;
use reqwest::Method;
use serde_json::{Value, json};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

/// All spans of this trace.
fn spans(collector: &PostBox, trace: &str) -> Vec<Value> {
    let calls = collector.received();
    assert!(calls.iter().all(|call| call.path == "/v1/traces"));
    let documents = calls.iter().map(|call| serde_json::from_str::<Value>(&call.body).unwrap());
    let all = documents.flat_map(|document| {
        let resource = &document["resourceSpans"][0];
        assert_eq!(resource["resource"]["attributes"][0]["value"]["stringValue"], "podo");
        resource["scopeSpans"][0]["spans"].as_array().unwrap().clone()
    });
    all.filter(|span| span["traceId"] == trace).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_followed_purchase_is_seen_from_the_request_to_the_notification() {
    let collector = PostBox::start(|_| (200, "{}".to_owned())).unwrap();
    let url = collector.url();
    let settings = [("PODO_OTLP_ENDPOINT", url.as_str()), ("PODO_OTLP_PERCENT", "0")];
    let world = World::with(&settings).await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    fan.charge(PRICE).await;
    let reservation = fan.hold(&show, &[0]).await;
    let payment = fan.ready(&reservation, "WALLET").await;
    let body = json!({ "paymentId": payment, "amount": PRICE });
    let confirm = fan.api.call(Method::POST, "/api/payment/confirm").json(&body);
    let confirm = confirm.header("Idempotency-Key", "traced");
    let followed = confirm.header("traceparent", format!("00-{TRACE}-{PARENT}-01"));
    let answer = send(followed).await;
    answer.expect(200);
    assert_eq!(answer.header("x-request-id"), TRACE);
    // One that the caller doesn't sample, and one without a trace.
    let silent = world.stranger.call(Method::GET, "/api/events");
    let other = TRACE.replace('0', "1");
    send(silent.header("traceparent", format!("00-{other}-{PARENT}-00"))).await.expect(200);
    let seen = until("the request and what its message led to", async || {
        Some(spans(&collector, TRACE)).filter(|seen| seen.len() >= 3)
    });
    let seen = seen.await;
    let request = seen.iter().find(|span| span["kind"] == 2).expect("the request");
    assert_eq!(request["name"], "POST /api/payment/confirm");
    assert_eq!(request["parentSpanId"], PARENT);
    let attributes = request["attributes"].to_string();
    assert!(attributes.contains("http.route") && attributes.contains("200"), "{attributes}");
    let name = |span: &Value| span["name"].as_str().unwrap().to_owned();
    let workers: Vec<&Value> = seen.iter().filter(|span| span["kind"] == 5).collect();
    for span in &workers {
        assert_eq!(span["parentSpanId"], request["spanId"], "{}", name(span));
    }
    let names: Vec<String> = workers.iter().map(|span| name(span)).collect();
    assert!(names.contains(&"notification ReservationConfirmed".to_owned()), "{names:?}");
    assert_eq!(spans(&collector, &other), Vec::<Value>::new());
    let n_spans =
        |call: &podo_testbed::stand_ins::post_box::Received| call.body.matches("spanId").count();
    let n_all: usize = collector.received().iter().map(n_spans).sum();
    assert_eq!(n_all, seen.len(), "nothing else was recorded");
}
