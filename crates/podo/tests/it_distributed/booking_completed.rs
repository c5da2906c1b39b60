//! A consumer of `booking-completed` written only from docs/messages.md, without any type of Podo.

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The page that the consumer was written from.
const DOCUMENT: &str = include_str!("../../../../docs/messages.md");
const SECTION: &str = "## booking-completed, version 1";

#[derive(Debug, Deserialize)]
pub(crate) struct Message {
    version: u32,
    #[serde(rename = "type")]
    kind: String,
    pub(crate) data: BookingCompleted,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BookingCompleted {
    pub(crate) booking_id: String,
    pub(crate) reservation_id: String,
    pub(crate) payment_id: String,
    pub(crate) event_id: String,
    pub(crate) event_schedule_id: String,
    pub(crate) seats: Vec<BookedSeat>,
    pub(crate) amount: u64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct BookedSeat {
    pub(crate) id: String,
    pub(crate) number: String,
    pub(crate) grade: String,
    pub(crate) price: u64,
}

pub(crate) fn consume(body: &[u8]) -> BookingCompleted {
    let message: Message = serde_json::from_slice(body).unwrap();
    assert_eq!((message.version, message.kind.as_str()), (1, "ReservationConfirmed"));
    message.data
}

/// The published `data` has exactly the fields and types of the documented example.
pub(crate) fn assert_documented(body: &[u8]) {
    let message: Value = serde_json::from_slice(body).unwrap();
    assert_eq!(shape(&message["data"]), shape(&example()));
}

fn example() -> Value {
    let (_, section) = DOCUMENT.split_once(SECTION).unwrap();
    let (_, code) = section.split_once("```json\n").unwrap();
    let (json, _) = code.split_once("```").unwrap();
    serde_json::from_str(json).unwrap()
}

/// Every path of a value with its type.
fn shape(value: &Value) -> BTreeMap<String, &'static str> {
    let mut shape = BTreeMap::new();
    collect(value, "data", &mut shape);
    shape
}

fn collect(value: &Value, path: &str, shape: &mut BTreeMap<String, &'static str>) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(items) => {
            items.iter().for_each(|item| collect(item, &format!("{path}[]"), shape));
            "list"
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, it)| collect(it, &format!("{path}.{name}"), shape));
            "object"
        }
    };
    shape.insert(path.to_owned(), kind);
}
