//! The seat map: immutable layouts, and a status shared by all fans.

use crate::support::client::{Api, send, text};
use crate::support::world::{Plan, Show, World, until};
use reqwest::Method;
use serde_json::{Value, json};

/// Three hundred rows of two hundred seats.
const STADIUM: u32 = 60_000;

async fn stadium(world: &World) -> Show {
    let rows: Vec<String> = (1..=300).map(|row| row.to_string()).collect();
    let grade = |row: usize| ["VIP", "R", "S"][row / 100];
    let grades: serde_json::Map<String, Value> =
        rows.iter().enumerate().map(|(at, row)| (row.clone(), json!(grade(at)))).collect();
    let template = json!({ "layoutType": "grid", "rows": rows, "seatsPerRow": 200,
        "gradeMapping": grades });
    let prices = json!({ "VIP": 50_000, "R": 40_000, "S": 30_000 });
    world.show_in(template, prices, Plan::default()).await
}

fn seats_path(show: &Show) -> String {
    format!("/api/schedules/{}/seats", show.schedule)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stadium_is_shown_and_sold() {
    let world = World::start().await;
    let show = stadium(&world).await;
    let path = format!("/api/schedules/{}", show.schedule);
    let left = || async { world.stranger.get(&path).await.expect(200)["seatsLeft"].clone() };
    assert_eq!(left().await, json!({ "VIP": 20_000, "R": 20_000, "S": 20_000 }));
    let fan = world.fan_inside(&show).await;
    fan.hold(&show, &[0, 1, STADIUM - 2, STADIUM - 1]).await;
    let last = STADIUM as usize - 1;
    show.wait_for_letter(&world.stranger, last, 'H').await;
    assert_eq!(left().await, json!({ "VIP": 19_998, "R": 20_000, "S": 19_998 }));
    let map = world.stranger.get(&seats_path(&show)).await.expect(200);
    assert_eq!(text(&map, "seats").len(), STADIUM as usize);
    let bytes = world.stranger.call(Method::GET, &seats_path(&show));
    let bytes = bytes.header("accept", "application/octet-stream").send().await.unwrap();
    assert!(bytes.headers().contains_key("seat-version"));
    let bytes = bytes.bytes().await.unwrap();
    assert_eq!((bytes.len(), bytes[0], bytes[14_999]), (15_000, 0b0101, 0b0101_0000));
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_layout_has_an_address_that_never_changes() {
    let world = World::start().await;
    let show = stadium(&world).await;
    let path = format!("/api/schedules/{}/layout", show.schedule);
    let plain = world.stranger.get(&path).await;
    let layout = plain.expect(200);
    assert_eq!(layout["sections"][0]["seats"].as_array().unwrap().len(), STADIUM as usize);
    let named = plain.header("content-location").to_owned();
    assert!(named.starts_with(&format!("{path}/")), "{named}");
    let again = world.stranger.get(&named).await;
    assert_eq!(again.header("cache-control"), "public, max-age=31536000, immutable");
    assert_eq!(again.text, plain.text);
    let known = world.stranger.call(Method::GET, &named);
    let known = send(known.header("if-none-match", again.header("etag"))).await;
    assert_eq!((known.status, known.text.as_str()), (304, ""));
    world.stranger.get(&format!("{path}/0123456789abcdef")).await.refused(404, "NOT_FOUND");
    for encoding in ["br", "gzip"] {
        let packed = world.stranger.call(Method::GET, &named).header("accept-encoding", encoding);
        let packed = packed.send().await.unwrap();
        assert_eq!(packed.headers()["content-encoding"], encoding);
        let n_bytes = packed.bytes().await.unwrap().len();
        assert!(n_bytes < 490_000, "{encoding}: {n_bytes} bytes for 60,000 seats");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_with_a_current_seat_map_gets_not_modified_or_only_the_changes() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let path = seats_path(&show);
    let first = world.stranger.get(&path).await;
    let version = first.expect(200)["version"].as_u64().unwrap();
    let known = async |tag: &str| {
        send(world.stranger.call(Method::GET, &path).header("if-none-match", tag)).await.status
    };
    assert_eq!(known(first.header("etag")).await, 304);
    let nothing = world.stranger.get(&format!("{path}?since={version}")).await.expect(200);
    assert_eq!(nothing, json!({ "version": version, "since": version, "changes": [] }));

    let fan = world.fan_inside(&show).await;
    fan.hold(&show, &[2, 3]).await;
    show.wait_for_letter(&world.stranger, 3, 'H').await;
    assert_eq!(known(first.header("etag")).await, 200);
    let changes = world.stranger.get(&format!("{path}?since={version}")).await.expect(200);
    assert_eq!(changes["changes"], json!([[2, "H"], [3, "H"]]));
    assert!(changes["version"].as_u64().unwrap() > version);
    let unknown = world.stranger.get(&format!("{path}?since=7")).await.expect(200);
    assert_eq!(text(&unknown, "seats").len(), 20, "all of it, for a version that does not exist");
    world.stranger.get(&format!("{path}?since=x")).await.refused(422, "INVALID");
}

/// The events of a stream, in order.
struct Events {
    response: reqwest::Response,
    text: String,
}

impl Events {
    async fn open(api: &Api, show: &Show, last_event_id: Option<u64>) -> Events {
        let mut call = api.call(Method::GET, &format!("{}/stream", seats_path(show)));
        if let Some(id) = last_event_id {
            call = call.header("last-event-id", id);
        }
        let response = call.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Events { response, text: String::new() }
    }

    /// The name and the data of the next event; `None` after the end of the stream.
    async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    let line = event.lines().find_map(|line| line.strip_prefix(name));
                    line.map(|value| value.trim().to_owned())
                };
                let found = field("event:").zip(field("data:"));
                self.text = rest.to_owned();
                match found {
                    Some((name, data)) => {
                        return Some((name, serde_json::from_str(&data).unwrap()));
                    }
                    None => continue,
                }
            }
            let chunk = self.response.chunk().await.ok().flatten()?;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seat_stream_delivers_every_change_in_order() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let mut events = Events::open(&world.stranger, &show, None).await;
    let (name, first) = events.next().await.unwrap();
    assert_eq!((name.as_str(), text(&first, "seats").as_str()), ("seats", "A".repeat(20).as_str()));
    let mut version = first["version"].as_u64().unwrap();
    let reservation = fan.hold(&show, &[7]).await;
    let mut heard = Vec::new();
    for step in 0..2 {
        let (name, change) = events.next().await.unwrap();
        assert_eq!(name, "changes");
        assert_eq!(change["since"].as_u64(), Some(version), "no change is missing");
        version = change["version"].as_u64().unwrap();
        heard.push(change["changes"].clone());
        if step == 0 {
            fan.release(&reservation).await.expect(204);
        }
    }
    assert_eq!(heard, [json!([[7, "H"]]), json!([[7, "A"]])]);

    let mut back =
        Events::open(&world.stranger, &show, Some(first["version"].as_u64().unwrap())).await;
    let (name, missed) = back.next().await.unwrap();
    assert_eq!((name.as_str(), &missed["changes"]), ("changes", &json!([[7, "A"]])));
    let mut stranger = Events::open(&world.stranger, &show, Some(1)).await;
    assert_eq!(stranger.next().await.unwrap().0, "seats");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_when_the_server_stops() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let mut events = Events::open(&world.stranger, &show, None).await;
    events.next().await.unwrap();
    let ends = until("the stream ends", async || events.next().await.is_none().then_some(()));
    tokio::join!(world.running.stop(), ends);
}
