//! The published form of a message, as it travels over the bus. docs/messages.md describes it.

use crate::error::{Error, Result};
use crate::messaging::port::bus::Envelope;
use crate::messaging::port::messages::Message;
use podo_domain::messaging::messages::{FORM, MessageKind};
use podo_domain::{MessageId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

/// Headers of an envelope, for consumers that filter without decoding the body.
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
    /// Repeated here because not every broker carries headers.
    #[serde(skip_serializing_if = "Option::is_none")]
    traceparent: Option<&'m str>,
}

/// Unknown fields are ignored, because a newer node may add some.
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

/// Encodes a message for the bus. Its data is already JSON and messages are frequent, so it's
/// inserted unparsed.
pub fn encode(message: &Message) -> Result<Envelope> {
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
    Ok(Envelope { topic: message.topic, key: message.key.to_string(), headers, body })
}

/// The kind in the envelope's header, without decoding the body; `None` on buses without headers.
pub fn kind_of(envelope: &Envelope) -> Option<MessageKind> {
    let header = envelope.headers.iter().find(|(name, _)| *name == TYPE_HEADER)?;
    MessageKind::parse(&header.1)
}

/// Decodes the message in an envelope. A newer node may be able to decode what this one can't.
pub fn decode(envelope: &Envelope) -> Result<Message> {
    let read: Read = serde_json::from_slice(&envelope.body).map_err(Error::broken)?;
    if read.version > FORM {
        return Err(Error::Broken(format!("unknown message form {}", read.version)));
    }
    Ok(Message {
        id: read.id,
        aggregate: read.aggregate_id,
        seq: read.seq,
        topic: envelope.topic,
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
    fn a_message_survives_encoding_and_decoding() {
        let envelope = encode(&message()).unwrap();
        assert_eq!(decode(&envelope).unwrap(), message());
        assert_eq!(envelope.key, Uuid::from_u128(4).to_string());
        assert_eq!(kind_of(&envelope), Some(MessageKind::ReservationConfirmed));
        let body: serde_json::Value = serde_json::from_slice(&envelope.body).unwrap();
        assert_eq!((&body["version"], &body["type"]), (&1.into(), &"ReservationConfirmed".into()));
    }

    #[test]
    fn a_trace_travels_in_the_body_and_as_a_header() {
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let message = Message { trace: Some(trace.to_owned()), ..message() };
        let envelope = encode(&message).unwrap();
        assert_eq!(envelope.headers[2], (TRACE_HEADER, trace.to_owned()));
        assert_eq!(decode(&envelope).unwrap(), message);
    }

    #[test]
    fn more_fields_do_not_disturb_and_a_newer_form_is_refused() {
        let envelope = encode(&message()).unwrap();
        let text = String::from_utf8(envelope.body.clone()).unwrap();
        let changed = |from: &str, to: &str| {
            let body = text.replacen(from, to, 1).into_bytes();
            decode(&Envelope { body, ..envelope.clone() })
        };
        assert!(changed("{", r#"{"grapes":"00-1-2-01","#).is_ok());
        assert!(changed(r#""version":1"#, r#""version":2"#).is_err());
        assert!(changed(r#""seq":3"#, r#""seq":"x""#).is_err());
    }
}
