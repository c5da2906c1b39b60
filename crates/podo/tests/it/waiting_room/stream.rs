//! The waiting room as a stream: status responses, pushed when they change.

use crate::support::client::{Api, text};
use crate::support::fan::Fan;
use crate::support::world::{Plan, Show, World};
use podo::jobs::tasks::Tasks;
use podo::routes::waiting_room::streams::{Listener, StreamEvent, Streams};
use podo_app::waiting_room::Asker;
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Longer than any pause of a stream, shorter than a heartbeat.
const PATIENCE: Duration = Duration::from_secs(10);

/// A listening fan.
pub(crate) struct Listening {
    response: reqwest::Response,
    text: String,
}

pub(crate) async fn listen(api: &Api, path: &str) -> Listening {
    let response = api.call(Method::GET, path).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    Listening { response, text: String::new() }
}

async fn listen_to_queue(fan: &Fan, show: &Show) -> Listening {
    listen(&fan.api, &format!("/api/queue/stream?scheduleId={}", show.schedule)).await
}

impl Listening {
    /// The next event and its data; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
                let name = field("event: ").unwrap_or("message").to_owned();
                let data = field("data: ").map(|data| serde_json::from_str(data).unwrap());
                self.text = rest.to_owned();
                match data {
                    Some(data) => return Some((name, data)),
                    None => continue,
                }
            }
            let chunk = tokio::time::timeout(PATIENCE, self.response.chunk());
            let chunk = chunk.await.expect("the stream says something").unwrap();
            self.text.push_str(std::str::from_utf8(&chunk?).unwrap());
        }
    }

    /// Reads until a message matches.
    async fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let (name, view) = self.next().await.expect("the stream goes on");
            assert_eq!(name, "message", "{view}");
            if is_it(&view) {
                return view;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_tells_the_place_and_then_the_turn() {
    let world = World::start().await;
    let show = world.show(Plan { max_active: 1, ..Plan::default() }).await;
    let first = world.fan_inside(&show).await;
    let fans = world.fans(2).await;
    for fan in &fans {
        fan.enter(&show).await.expect(200);
    }
    let mut stream = listen_to_queue(&fans[1], &show).await;
    let (_, view) = stream.next().await.unwrap();
    assert_eq!((view["state"].as_str(), view["position"].as_u64()), (Some("WAITING"), Some(2)));
    fans[0].leave(&show).await;
    let view = stream.until(|view| view["position"] == 1).await;
    assert_eq!(view["ahead"], 0, "only changes are sent: {view}");
    first.leave(&show).await;
    let view = stream.until(|view| view["state"] == "ADMITTED").await;
    let mut fan = fans[1].clone();
    fan.api = fan.api.with_entry(&text(&view, "entryToken"));
    fan.select(&show, &[0]).await.expect(201);
    fan.leave(&show).await;
    let (name, problem) = loop {
        let (name, data) = stream.next().await.unwrap();
        if name != "message" {
            break (name, data);
        }
    };
    assert_eq!((name.as_str(), problem["code"].as_str()), ("problem", Some("NOT_IN_QUEUE")));
    assert!(stream.next().await.is_none(), "that was the last word");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_stops_reading_then_gets_only_the_newest_state() {
    let world = World::start().await;
    let show = world.show(Plan { max_active: 1, ..Plan::default() }).await;
    let _inside = world.fan_inside(&show).await;
    let fans = world.fans(20).await;
    for fan in &fans {
        fan.enter(&show).await.expect(200);
    }
    let (last, ahead) = fans.split_last().unwrap();
    let asker = Asker { fan: last.id, proof: None, room: show.schedule, session: None };
    let (streams, tasks) = (Arc::new(Streams::default()), Tasks::default());
    let context = &world.running.context;
    let mut slow = Listener::start(&streams, context, &tasks, asker).unwrap();
    let mut quick = Listener::start(&streams, context, &tasks, asker).unwrap();
    let position = async |listener: &mut Listener| match listener.next().await {
        Some(StreamEvent::View(view)) => view.position,
        Some(StreamEvent::Over(_) | StreamEvent::Bye { .. }) | None => panic!("the stream goes on"),
    };
    assert_eq!((position(&mut slow).await, position(&mut quick).await), (20, 20));
    // One reads each change; the other's connection is full in the meantime.
    for (n_gone, fan) in ahead.iter().enumerate().take(5) {
        fan.leave(&show).await;
        while position(&mut quick).await != 19 - n_gone as u64 {}
    }
    assert_eq!(position(&mut slow).await, 15, "nothing was heaped up for it");
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_hears_the_organisers_message_in_their_language() {
    let world = World::start().await;
    let plan = Plan { max_active: 1, ..Plan::default() };
    let show = world.show(plan).await;
    let _inside = world.fan_inside(&show).await;
    let (korean, english) = (world.fan().await, world.fan().await);
    korean.enter(&show).await.expect(200);
    english.enter(&show).await.expect(200);
    let path = format!("/api/queue/stream?scheduleId={}", show.schedule);
    let mut streams = Vec::new();
    for (fan, language) in [(&korean, "ko"), (&english, "en")] {
        let call = fan.api.call(Method::GET, &path).header("Accept-Language", language);
        let response = call.send().await.unwrap();
        let mut stream = Listening { response, text: String::new() };
        assert!(stream.next().await.unwrap().1["message"].is_null());
        streams.push(stream);
    }
    let mut settings = plan.queue("PAUSED");
    settings["message"] = json!("10분 뒤에 다시 엽니다");
    settings["messageEn"] = json!("We go on in ten minutes");
    let queue = format!("/api/admin/schedules/{}/queue", show.schedule);
    let kept = world.organiser.put(&queue, &settings).await.expect(200);
    assert_eq!((&kept["message"], &kept["mode"]), (&settings["message"], &settings["mode"]));
    let heard = ["10분 뒤에 다시 엽니다", "We go on in ten minutes"];
    for (stream, heard) in streams.iter_mut().zip(heard) {
        let view = stream.until(|view| !view["message"].is_null()).await;
        assert_eq!(view["message"], heard);
        assert!(view["estimatedWait"].is_null(), "no position moves: {view}");
    }
    settings["message"] = json!("ㅋ".repeat(501));
    world.organiser.put(&queue, &settings).await.refused(422, "INVALID");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lobby_hears_of_the_draw() {
    let world = World::start().await;
    let plan = Plan { opens_in: Duration::from_secs(2), max_active: 1, ..Plan::default() };
    let show = world.show(plan).await;
    let fans = world.fans(2).await;
    let mut streams = Vec::new();
    for fan in &fans {
        fan.enter(&show).await.expect(200);
        streams.push(listen_to_queue(fan, &show).await);
    }
    let mut states = Vec::new();
    for stream in &mut streams {
        assert_eq!(stream.next().await.unwrap().1["state"], "LOBBY");
        let view = stream.until(|view| view["state"] != "LOBBY").await;
        assert!(view["token"].is_string(), "the proof of the place that was drawn: {view}");
        states.push(text(&view, "state"));
    }
    states.sort();
    assert_eq!(states, ["ADMITTED", "WAITING"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_end_with_the_process_and_say_when_to_come_back() {
    let world = World::start().await;
    let show = world.show(Plan { max_active: 1, ..Plan::default() }).await;
    let _inside = world.fan_inside(&show).await;
    let fan = world.fan().await;
    fan.enter(&show).await.expect(200);
    let mut stream = listen_to_queue(&fan, &show).await;
    stream.next().await.unwrap();
    let live = format!("/api/admin/schedules/{}/live/stream", show.schedule);
    let mut watching = listen(&world.organiser, &live).await;
    let (_, view) = watching.next().await.unwrap();
    assert_eq!((view["waiting"].as_u64(), view["streams"].as_u64()), (Some(1), Some(1)), "{view}");
    let last_words = async {
        let (name, bye) = stream.next().await.unwrap();
        let retry_after_ms = bye["retryAfterMs"].as_u64().unwrap();
        assert!(name == "bye" && (1_000..5_000).contains(&retry_after_ms), "{name} {bye}");
        assert!(stream.next().await.is_none());
        while watching.next().await.is_some() {}
    };
    let end = async { tokio::join!(world.running.stop(), last_words) };
    tokio::time::timeout(PATIENCE, end).await.expect("no stream delays the end");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_needs_a_place_in_the_queue_and_a_fan_gets_a_few_at_most() {
    let world = World::with(&[("PODO_LIMITS", "on"), ("PODO_REQUESTS_PER_SECOND_PER_IP", "1000")]);
    let world = world.await;
    let show = world.show(Plan { max_active: 1, ..Plan::default() }).await;
    let _inside = world.fan_inside(&show).await;
    let fan = world.fan().await;
    let path = format!("/api/queue/stream?scheduleId={}", show.schedule);
    fan.api.get(&path).await.refused(404, "NOT_IN_QUEUE");
    world.stranger.get(&path).await.refused(401, "LOGIN_REQUIRED");
    fan.enter(&show).await.expect(200);
    let mut streams = Vec::new();
    for _ in 0..6 {
        streams.push(listen_to_queue(&fan, &show).await);
    }
    let refused = fan.api.get(&path).await;
    refused.refused(429, "TOO_MANY_REQUESTS");
    assert_eq!(refused.header("retry-after"), "5");
    assert_eq!(fan.status(&show).await.expect(200)["position"], 1, "the place is kept");
}
