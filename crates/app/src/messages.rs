//! The published form of a message: what travels over the bus. docs/messages.md describes it.

use crate::error::{Error, Result};
use crate::ports::bus::Parcel;
use crate::ports::messages::Message;
use domain::messages::{FORM, MessageKind};
use domain::{MessageId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

/// Headers of a parcel, for those who choose without reading the body.
pub const ID_HEADER: &str = "message-id";
pub const TYPE_HEADER: &str = "message-type";
pub const TRACE_HEADER: &str = "traceparent";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'m> {
    version: u32,
    id: MessageId,
    #[serde(rename = "type")]
    kind: MessageKind,
    aggregate_id: Uuid,
    seq: i64,
    key: Uuid,
    at: Timestamp,
    /// Not every broker carries headers.
    #[serde(skip_serializing_if = "Option::is_none")]
    traceparent: Option<&'m str>,
}

/// Fields that are not known are left alone: a newer node may add some.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Read {
    version: u32,
    id: MessageId,
    #[serde(rename = "type")]
    kind: MessageKind,
    aggregate_id: Uuid,
    seq: i64,
    key: Uuid,
    at: Timestamp,
    #[serde(default)]
    traceparent: Option<String>,
    data: Value,
}

/// Packs a message for the bus. Its data is JSON already, and most messages are many: it is put in as
/// it is.
pub fn wrap(message: &Message) -> Result<Parcel> {
    let head = Head {
        version: FORM,
        id: message.id,
        kind: message.kind,
        aggregate_id: message.aggregate,
        seq: message.seq,
        key: message.key,
        at: message.created_at,
        traceparent: message.trace.as_deref(),
    };
    let mut body = serde_json::to_vec(&head).map_err(Error::broken)?;
    body.pop();
    body.extend_from_slice(b",\"data\":");
    body.extend_from_slice(message.payload.as_bytes());
    body.push(b'}');
    let mut headers =
        vec![(ID_HEADER, message.id.to_string()), (TYPE_HEADER, message.kind.as_str().to_owned())];
    headers.extend(message.trace.clone().map(|trace| (TRACE_HEADER, trace)));
    Ok(Parcel { topic: message.topic, key: message.key.to_string(), headers, body })
}

/// What the parcel says that it holds, without opening it; nothing on buses that carry no headers.
pub fn kind_of(parcel: &Parcel) -> Option<MessageKind> {
    let header = parcel.headers.iter().find(|(name, _)| *name == TYPE_HEADER)?;
    MessageKind::parse(&header.1)
}

/// Reads a message out of a parcel. One that cannot be read now may be readable by a newer node.
pub fn open(parcel: &Parcel) -> Result<Message> {
    let read: Read = serde_json::from_slice(&parcel.body).map_err(Error::broken)?;
    if read.version > FORM {
        return Err(Error::Broken(format!("form {} of a message is not known here", read.version)));
    }
    Ok(Message {
        id: read.id,
        aggregate: read.aggregate_id,
        seq: read.seq,
        topic: parcel.topic,
        kind: read.kind,
        key: read.key,
        payload: read.data.to_string(),
        attempts: 0,
        created_at: read.at,
        trace: read.traceparent,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> Message {
        Message {
            id: MessageId::new(Uuid::from_u128(1)),
            aggregate: Uuid::from_u128(2),
            seq: 3,
            topic: MessageKind::ReservationConfirmed.topic(),
            kind: MessageKind::ReservationConfirmed,
            key: Uuid::from_u128(4),
            payload: r#"{"seatIds":["a"]}"#.to_owned(),
            attempts: 0,
            created_at: Timestamp::from_ms(1_900_000_000_000),
            trace: None,
        }
    }

    #[test]
    fn what_was_wrapped_is_found_again() {
        let parcel = wrap(&message()).unwrap();
        assert_eq!(open(&parcel).unwrap(), message());
        assert_eq!(parcel.key, Uuid::from_u128(4).to_string());
        assert_eq!(kind_of(&parcel), Some(MessageKind::ReservationConfirmed));
        let body: serde_json::Value = serde_json::from_slice(&parcel.body).unwrap();
        assert_eq!((&body["version"], &body["type"]), (&1.into(), &"ReservationConfirmed".into()));
    }

    #[test]
    fn a_trace_travels_in_the_body_and_as_a_header() {
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let message = Message { trace: Some(trace.to_owned()), ..message() };
        let parcel = wrap(&message).unwrap();
        assert_eq!(parcel.headers[2], (TRACE_HEADER, trace.to_owned()));
        assert_eq!(open(&parcel).unwrap(), message);
    }

    #[test]
    fn more_fields_do_not_disturb_and_a_newer_form_is_refused() {
        let parcel = wrap(&message()).unwrap();
        let text = String::from_utf8(parcel.body.clone()).unwrap();
        let changed = |from: &str, to: &str| {
            let body = text.replacen(from, to, 1).into_bytes();
            open(&Parcel { body, ..parcel.clone() })
        };
        assert!(changed("{", r#"{"grapes":"00-1-2-01","#).is_ok());
        assert!(changed(r#""version":1"#, r#""version":2"#).is_err());
        assert!(changed(r#""seq":3"#, r#""seq":"x""#).is_err());
    }
}
