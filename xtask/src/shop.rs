//! A concert on sale, made over HTTP as any version understands it.

use crate::shell::{command, read};
use anyhow::Context;
use serde_json::{Value, json};

/// A hall with more seats than fans: a sale that ends early shows little.
const ROWS: i32 = 40;
const SEATS_PER_ROW: u32 = 50;

pub(crate) struct Shop {
    pub(crate) schedule: String,
}

impl Shop {
    pub(crate) fn open(url: &str, organiser: (&str, &str)) -> anyhow::Result<Shop> {
        let token = log_in(url, organiser)?;
        let make = |call: &str, body: &Value| {
            let made = send(url, call, &token, body)?;
            text(&made, "id")
        };
        let venue = json!({ "name": "Arena", "address": "Road 1", "city": "Seoul" });
        let venue = make("POST /api/admin/venues", &venue)?;
        let hall = json!({ "name": "Hall", "seatTemplate": template() });
        let hall = make(&format!("POST /api/admin/venues/{venue}/halls"), &hall)?;
        let event =
            json!({ "title": "Grapes live", "artist": "Podo", "venueId": venue, "hallId": hall });
        let event = make("POST /api/admin/events", &event)?;
        let date = json!({
            "startsAt": "2100-01-01T10:00:00Z", "endsAt": "2100-01-01T12:00:00Z",
            "saleStartsAt": "2020-01-01T00:00:00Z", "saleEndsAt": "2099-12-31T00:00:00Z",
            "prices": { "R": 100_000 },
            "queue": { "mode": "AUTO", "maxActive": 1_000, "admitPerSecond": 500,
                       "entryTtlSeconds": 600 },
        });
        let schedule = make(&format!("POST /api/admin/events/{event}/schedules"), &date)?;
        make(&format!("POST /api/admin/events/{event}/open"), &json!({}))?;
        Ok(Shop { schedule })
    }
}

/// Gives the access token.
pub(crate) fn log_in(url: &str, (email, password): (&str, &str)) -> anyhow::Result<String> {
    let login = json!({ "email": email, "password": password });
    text(&send(url, "POST /api/auth/login", "", &login)?, "accessToken")
}

fn template() -> Value {
    let row = |row: i32| {
        let line = json!({ "x": 0, "y": 80 + row * 12, "dx": 12, "dy": 0 });
        json!({ "label": row.to_string(), "count": SEATS_PER_ROW, "line": line })
    };
    let rows: Vec<Value> = (1..=ROWS).map(row).collect();
    json!({ "layoutType": "sections", "stage": { "x": 0, "y": 0, "width": 600, "height": 40 },
            "sections": [{ "name": "1", "grade": "R", "rows": rows }] })
}

/// `call` is a method and a path.
pub(crate) fn send(url: &str, call: &str, token: &str, body: &Value) -> anyhow::Result<Value> {
    let (method, path) = call.split_once(' ').context("a method and a path")?;
    let (address, bearer) = (format!("{url}{path}"), format!("Authorization: Bearer {token}"));
    let text = body.to_string();
    let mut arguments = vec!["--silent", "--show-error", "--fail-with-body", "--request", method];
    arguments.extend(["--header", "Content-Type: application/json", "--data", &text, &address]);
    if !token.is_empty() {
        arguments.extend(["--header", &bearer]);
    }
    let answer = read(&mut command("curl", &arguments))?;
    serde_json::from_str(&answer).with_context(|| format!("{call} answered `{answer}`"))
}

pub(crate) fn text(value: &Value, name: &str) -> anyhow::Result<String> {
    let found = value[name].as_str().map(str::to_owned);
    found.with_context(|| format!("no {name} in {value}"))
}
