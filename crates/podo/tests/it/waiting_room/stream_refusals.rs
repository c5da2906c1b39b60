//! The three streams never end, so the request fuzzer cannot test them: here is every invalid
//! request, and what the OpenAPI document says about its response.

use crate::support::client::{Answer, Api, send, text};
use crate::support::world::{Plan, Show, World};
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

const UNKNOWN_ID: &str = "0190a000-0000-7000-8000-000000000000";

/// A stream by its template, with a path that works for a permitted listener.
struct Stream {
    template: &'static str,
    path: String,
}

fn streams(show: &Show) -> [Stream; 3] {
    let id = show.schedule;
    [
        Stream {
            template: "/api/queue/stream",
            path: format!("/api/queue/stream?scheduleId={id}"),
        },
        Stream {
            template: "/api/schedules/{id}/seats/stream",
            path: format!("/api/schedules/{id}/seats/stream"),
        },
        Stream {
            template: "/api/admin/schedules/{id}/live/stream",
            path: format!("/api/admin/schedules/{id}/live/stream"),
        },
    ]
}

/// The response is a problem, and the document lists its status for this call.
#[track_caller]
fn is_documented(document: &Value, stream: &Stream, answer: &Answer) {
    let said = &document["paths"][stream.template]["get"]["responses"];
    let status = answer.status.to_string();
    let told = if said[&status].is_object() { &said[&status] } else { &said["default"] };
    assert!(told["content"]["application/problem+json"].is_object(), "{} {status}", stream.path);
    assert_eq!(answer.header("content-type"), "application/problem+json", "{}", answer.text);
    let problem: Value = serde_json::from_str(&answer.text).unwrap();
    assert_eq!(problem["status"], answer.status);
    assert_eq!(problem["traceId"], answer.header("x-request-id"));
    assert_eq!(answer.header("cache-control"), "no-store");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_stream_request_gets_the_documented_problem() {
    let world = World::start().await;
    let show = world.show(Plan { max_active: 1, ..Plan::default() }).await;
    let _inside = world.fan_inside(&show).await;
    let fan = world.fan().await;
    let place = text(&fan.enter(&show).await.expect(200), "token");
    let document = world.stranger.get("/api/openapi.json").await.expect(200);
    let stranger = &world.stranger;
    let forged = stranger.with_token("eyJhbGciOiJub25lIn0.e30.");
    let [queue, seats, live] = &streams(&show);
    let get = |api: &Api, path: &str| api.call(Method::GET, path);
    let elsewhere = |stream: &Stream, id: &str| stream.path.replace(&show.schedule.to_string(), id);
    let refused: Vec<(&Stream, RequestBuilder, u16, &str)> = vec![
        (queue, get(stranger, &queue.path), 401, "LOGIN_REQUIRED"),
        (queue, get(&forged, &queue.path), 401, "LOGIN_REQUIRED"),
        (queue, get(&world.fan().await.api, &queue.path), 404, "NOT_IN_QUEUE"),
        (
            queue,
            get(stranger, &queue.path).header("Queue-Token", "nonsense"),
            401,
            "QUEUE_TOKEN_INVALID",
        ),
        (
            queue,
            get(stranger, &elsewhere(queue, UNKNOWN_ID)).header("Queue-Token", &place),
            401,
            "QUEUE_TOKEN_INVALID",
        ),
        (queue, get(&fan.api, &elsewhere(queue, UNKNOWN_ID)), 404, "NOT_FOUND"),
        (queue, get(&fan.api, &elsewhere(queue, "7")), 422, "INVALID"),
        (queue, get(&fan.api, "/api/queue/stream"), 422, "INVALID"),
        (queue, get(&fan.api, &format!("{}&x=1", queue.path)), 422, "INVALID"),
        (seats, get(stranger, &elsewhere(seats, UNKNOWN_ID)), 404, "NOT_FOUND"),
        (seats, get(stranger, &elsewhere(seats, "7")), 404, "NOT_FOUND"),
        (live, get(stranger, &live.path), 401, "LOGIN_REQUIRED"),
        (live, get(&forged, &live.path), 401, "LOGIN_REQUIRED"),
        (live, get(&fan.api, &live.path), 403, "ADMIN_ONLY"),
        (live, get(&world.organiser, &elsewhere(live, UNKNOWN_ID)), 404, "NOT_FOUND"),
        (live, get(&world.organiser, &elsewhere(live, "7")), 404, "NOT_FOUND"),
    ];
    for (stream, call, status, code) in refused {
        let answer = send(call).await;
        answer.refused(status, code);
        is_documented(&document, stream, &answer);
    }
    for stream in [queue, seats, live] {
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let answer = send(world.organiser.call(method, &stream.path)).await;
            answer.refused(405, "METHOD_NOT_ALLOWED");
            assert_eq!(answer.header("allow"), "GET,HEAD");
            is_documented(&document, stream, &answer);
        }
    }
    // The control: a permitted listener gets events, whatever its Accept header.
    for accept in ["text/event-stream", "application/json", "image/png", "nonsense"] {
        for (stream, api) in [(queue, &fan.api), (seats, stranger), (live, &world.organiser)] {
            let call = get(api, &stream.path).header("Accept", accept);
            let mut answer = call.send().await.unwrap();
            assert_eq!(answer.status(), 200, "{}", stream.path);
            assert_eq!(answer.headers()["content-type"], "text/event-stream");
            let first = answer.chunk().await.unwrap().expect("an event");
            let first = String::from_utf8_lossy(&first).into_owned();
            assert!(first.contains("data: {"), "{}: {first}", stream.path);
        }
    }
}
