//! The effects of messages: sales are counted, webhooks are delivered, dead letters are replayed,
//! jobs are listed and run.

use crate::support::client::{Api, text};
use crate::support::fan::Fan;
use crate::support::world::{PRICE, Plan, Show, World, until};
use podo_app::messaging::envelope::encode;
use podo_app::messaging::port::bus::Envelope;
use podo_app::messaging::port::dead_letters::NewDeadLetter;
use podo_app::messaging::port::messages::Message;
use podo_domain::messaging::messages::{MessageKind, Topic};
use podo_domain::{MessageId, ScheduleId};
use podo_testbed::PostBox;
use serde_json::{Value, json};

/// The sold seats of the only grade, once the worker has counted this many.
pub(crate) async fn wait_for_sold(api: &Api, schedule: ScheduleId, sold: u32) -> Value {
    let path = format!("/api/admin/schedules/{schedule}/statistics");
    until(&format!("{sold} seats are counted as sold"), async || {
        let seen = api.get(&path).await.expect(200);
        (seen["grades"][0]["sold"] == sold).then(|| seen["grades"][0].clone())
    })
    .await
}

/// A purchase message that another program might publish.
pub(crate) fn confirmed(world: &World, show: &Show, data: &Value) -> Message {
    let context = world.context();
    let now = context.now();
    let kind = MessageKind::ReservationConfirmed;
    let reservation = context.rng.id(now);
    let mut payload = json!({ "reservationId": reservation, "eventScheduleId": show.schedule });
    payload.as_object_mut().unwrap().extend(data.as_object().unwrap().clone());
    Message {
        id: MessageId::new(context.rng.id(now)),
        aggregate: reservation,
        seq: 2,
        topic: kind.topic(),
        kind,
        key: show.schedule.uuid(),
        payload: payload.to_string(),
        attempts: 0,
        created_at: now,
        trace: None,
    }
}

pub(crate) fn one_seat() -> Value {
    json!({ "grades": [{ "grade": "VIP", "seats": 1, "amount": PRICE }] })
}

pub(crate) async fn n_notifications(fan: &Fan, subject: &str) -> usize {
    let mailbox = fan.api.get("/api/users/me/mailbox").await.expect(200);
    let notifications = mailbox["items"].as_array().unwrap();
    notifications.iter().filter(|it| it["subject"] == subject).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn sales_are_counted_from_messages_and_canceled_ones_are_taken_back() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    let counted = wait_for_sold(&world.organiser, show.schedule, 1).await;
    assert_eq!((&counted["available"], &counted["revenue"]), (&json!(19), &json!(PRICE)));
    fan.cancel(&bought.reservation).await.expect(200);
    let counted = wait_for_sold(&world.organiser, show.schedule, 0).await;
    assert_eq!(counted["revenue"], 0);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_comes_a_thousand_times_acts_once() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan().await;
    let mut data = one_seat();
    data["userId"] = json!(fan.id);
    data["seatIds"] = json!(["a seat"]);
    let message = confirmed(&world, &show, &data);
    let envelope = encode(&message).unwrap();
    let bus = &world.context().messaging.bus;
    let again = (0..1_000).map(|_| bus.publish(&envelope));
    for published in futures::future::join_all(again).await {
        published.unwrap();
    }
    // One more message after all of them: once it is processed, they have been too.
    bus.publish(&encode(&confirmed(&world, &show, &one_seat())).unwrap()).await.unwrap();
    wait_for_sold(&world.organiser, show.schedule, 2).await;
    until("the notification", async || {
        (n_notifications(&fan, "예매가 완료되었어요").await == 1).then_some(())
    })
    .await;
}

async fn open_dead_letters(world: &World) -> Vec<Value> {
    let listed = world.organiser.get("/api/admin/dlq?status=OPEN").await.expect(200);
    listed["items"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poisoned_message_is_dead_lettered_and_the_others_go_on() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let bus = &world.context().messaging.bus;
    let poison = confirmed(&world, &show, &json!({ "grades": "none" }));
    let good = confirmed(&world, &show, &one_seat());
    let nonsense = Envelope {
        topic: Topic::SeatSync,
        key: show.schedule.to_string(),
        headers: Vec::new(),
        body: b"\0not a message".to_vec(),
    };
    for envelope in [encode(&poison).unwrap(), nonsense, encode(&good).unwrap()] {
        bus.publish(&envelope).await.unwrap();
    }
    wait_for_sold(&world.organiser, show.schedule, 1).await;
    let dead = until("the dead letters", async || {
        let dead = open_dead_letters(&world).await;
        // Two workers cannot decode the garbage, and one of them fails on the poison message; the
        // third has no subscriber.
        (dead.len() == 3).then_some(dead)
    })
    .await;
    let poisoned = dead.iter().find(|it| it["messageId"] == poison.id.to_string()).unwrap();
    assert_eq!((&poisoned["consumer"], &poisoned["attempts"]), (&json!("booking"), &json!(3)));
    let metrics = world.stranger.get("/metrics").await.text;
    assert!(metrics.contains(r#"podo_dead_letters{worker="booking"} 2"#), "{metrics}");
    let path = format!("/api/admin/dlq/{}", text(poisoned, "id"));
    let shown = world.organiser.get(&path).await.expect(200);
    assert!(text(&shown, "body").contains("\"grades\":\"none\""), "{shown}");
    // Nothing has changed, so it fails again and becomes a dead letter again.
    world.organiser.post(&format!("{path}/replay"), &json!({})).await.expect(202);
    until("the replay failed", async || {
        let seen = world.organiser.get(&path).await.expect(200);
        (seen["status"] == "OPEN" && seen["attempts"] == 4).then_some(())
    })
    .await;
    world.organiser.delete(&path).await.expect(204);
    world.organiser.delete(&path).await.refused(409, "DEAD_LETTER_CLOSED");
    let told = until("the webhook has arrived", async || {
        let metrics = world.stranger.get("/metrics").await.text;
        metrics.contains("podo_outbox_pending 0").then_some(metrics)
    });
    told.await;
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_letter_acts_once_when_it_is_replayed() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let message = confirmed(&world, &show, &one_seat());
    let envelope = encode(&message).unwrap();
    let dead_letter = NewDeadLetter {
        message_id: message.id,
        consumer: "booking".to_owned(),
        topic: message.topic.as_str().to_owned(),
        kind: message.kind.as_str().to_owned(),
        key: envelope.key.clone(),
        body: String::from_utf8(envelope.body.clone()).unwrap(),
        error: "a bug that has been mended".to_owned(),
        attempts: 3,
        now: world.context().now(),
    };
    world.context().store.add_dead_letter(dead_letter).await.unwrap();
    let dead = open_dead_letters(&world).await.remove(0);
    let path = format!("/api/admin/dlq/{}", text(&dead, "id"));
    world.organiser.post(&format!("{path}/replay"), &json!({})).await.expect(202);
    wait_for_sold(&world.organiser, show.schedule, 1).await;
    until("it is closed", async || {
        let seen = world.organiser.get(&path).await.expect(200);
        (seen["status"] == "REPLAYED").then_some(())
    })
    .await;
    // The message arrives over the bus after all.
    world.context().messaging.bus.publish(&envelope).await.unwrap();
    let other = encode(&confirmed(&world, &show, &one_seat())).unwrap();
    world.context().messaging.bus.publish(&other).await.unwrap();
    wait_for_sold(&world.organiser, show.schedule, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signed_webhook_is_retried_until_the_endpoint_answers() {
    let n_calls = std::sync::atomic::AtomicU32::new(0);
    let answer = move |_: &_| {
        let n = n_calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        (if n == 0 { 500 } else { 204 }, String::new())
    };
    let theirs = PostBox::start(answer).unwrap();
    let world = World::with(&[("PODO_WEBHOOK_ALLOW", "127.0.0.0/8")]).await;
    let url = format!("{}/hook", theirs.url());
    let body = json!({ "url": url, "types": ["ReservationConfirmed"] });
    let made = world.organiser.post("/api/admin/webhooks", &body).await.expect(201);
    let (id, secret) = (text(&made, "id"), text(&made, "secret"));
    assert!(secret.starts_with("whsec_"));
    let listed = world.organiser.get("/api/admin/webhooks").await.expect(200);
    assert_eq!(listed["items"][0]["secret"], Value::Null, "it is shown once");
    assert!(listed["types"].as_array().unwrap().contains(&json!("ReservationConfirmed")));

    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    until("the first try", async || (theirs.received().len() == 1).then_some(())).await;
    world.clock.advance(std::time::Duration::from_secs(6));
    until("the second try", async || (theirs.received().len() == 2).then_some(())).await;
    let received = theirs.received();
    assert_eq!(received[0].header("webhook-id"), received[1].header("webhook-id"));
    let told: Value = serde_json::from_str(&received[1].body).unwrap();
    assert_eq!(told["type"], "ReservationConfirmed");
    assert_eq!(told["data"]["reservationId"], bought.reservation);
    let [id_header, at, signature] = ["webhook-id", "webhook-timestamp", "webhook-signature"]
        .map(|name| received[1].header(name).to_owned());
    let signed = format!("{id_header}.{at}.{}", received[1].body);
    assert!(is_signed(&secret, &signed, &signature), "{signature}");

    let path = format!("/api/admin/webhooks/{id}/deliveries");
    let log = until("it is delivered", async || {
        let log = world.organiser.get(&path).await.expect(200);
        (log["items"][0]["status"] == "DELIVERED").then(|| log["items"][0].clone())
    })
    .await;
    assert_eq!((&log["attempts"], &log["lastStatus"]), (&json!(2), &json!(204)));
    let again = format!("{path}/{}/replay", text(&log, "id"));
    world.organiser.post(&again, &json!({})).await.expect(202);
    until("it comes again", async || (theirs.received().len() == 3).then_some(())).await;
    let endpoint = format!("/api/admin/webhooks/{id}");
    for (asked, status) in [(json!({ "status": "DISABLED" }), "DISABLED"), (json!({}), "ACTIVE")] {
        let call = world.organiser.call(reqwest::Method::PATCH, &endpoint).json(&asked);
        let changed = crate::support::client::send(call).await.expect(200);
        assert_eq!(changed["status"], status, "paused, and active again by any other change");
    }
    world.organiser.delete(&endpoint).await.expect(204);
}

pub(crate) fn is_signed(secret: &str, signed: &str, signature: &str) -> bool {
    use aws_lc_rs::hmac;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let tag = STANDARD.decode(signature.strip_prefix("v1,").unwrap()).unwrap();
    hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, &key), signed.as_bytes(), &tag).is_ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_organisers_address_inside_our_network_is_refused() {
    let world = World::start().await;
    for url in ["http://127.0.0.1:1/", "https://169.254.169.254/latest", "https://[::1]/"] {
        let body = json!({ "url": url, "types": ["ReservationConfirmed"] });
        let answer = world.organiser.post("/api/admin/webhooks", &body).await;
        answer.refused(422, "WEBHOOK_URL_REFUSED");
    }
    let body = json!({ "url": "https://podo.example/", "types": ["Nonsense"] });
    world.organiser.post("/api/admin/webhooks", &body).await.refused(422, "INVALID");
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_seen_with_their_last_round_and_run_by_hand() {
    let world = World::start().await;
    let ran = world.organiser.post("/api/admin/jobs/clean-queues/run", &json!({})).await;
    assert_eq!(ran.expect(200)["failed"], 0);
    world
        .organiser
        .post("/api/admin/jobs/nonsense/run", &json!({}))
        .await
        .refused(404, "NOT_FOUND");
    let jobs = until("every job that is due has run", async || {
        let jobs = world.organiser.get("/api/admin/jobs").await.expect(200);
        let jobs = jobs["items"].as_array().unwrap().clone();
        jobs.iter().all(|job| job["last"].is_object()).then_some(jobs)
    })
    .await;
    let clean = jobs.iter().find(|job| job["name"] == "clean-messages").unwrap();
    assert_eq!(clean["runs"], "daily 02:00 UTC");
    assert!(jobs.iter().all(|job| job["last"]["error"].is_null()), "{jobs:?}");
    let metrics = world.stranger.get("/metrics").await.text;
    assert!(metrics.contains(r#"podo_job_rounds_total{job="relay"}"#), "{metrics}");
}
