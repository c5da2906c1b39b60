//! Values on their way into and out of SQL.

use super::tx::SqlError;
use domain::{Timestamp, Won};
use uuid::Uuid;

/// A parameter or a column. SQLite keeps UUIDs as 16 bytes, times as milliseconds, JSON as text
/// and truth as 0 or 1; PostgreSQL has its own types for them.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub(super) enum Value {
    Null,
    Int(i64),
    Bool(bool),
    Text(String),
    Bytes(Vec<u8>),
    Uuid(Uuid),
    Time(Timestamp),
    Json(String),
}

impl Value {
    /// As a person can look it up.
    pub(super) fn shown(&self) -> String {
        match self {
            Value::Null => "-".to_owned(),
            Value::Int(number) => number.to_string(),
            Value::Bool(truth) => truth.to_string(),
            Value::Text(text) | Value::Json(text) => text.clone(),
            Value::Uuid(uuid) => uuid.to_string(),
            Value::Time(time) => time.to_string(),
            Value::Bytes(bytes) => match Uuid::from_slice(bytes) {
                Ok(uuid) => uuid.to_string(),
                Err(_) => format!("{} bytes", bytes.len()),
            },
        }
    }
}

/// Ids of version 7 begin with their time: those made from this moment on are not below it.
pub(super) fn first_at(moment: Timestamp) -> Uuid {
    let ms = u128::try_from(moment.ms()).unwrap_or(0);
    Uuid::from_u128(ms << 80)
}

/// A row of a result; columns by their position in the select.
#[derive(Debug)]
pub(super) struct Row(pub Vec<Value>);

impl Row {
    /// The column at `index`. A type that does not fit is a fault of the query's author.
    pub(super) fn get<T: FromValue>(&self, index: usize) -> Result<T, SqlError> {
        let value = self.0.get(index).ok_or_else(|| {
            SqlError::Broken(format!("column {index} of a row with {}", self.0.len()))
        })?;
        T::from_value(value)
            .ok_or_else(|| SqlError::Broken(format!("column {index} has another type: {value:?}")))
    }

    /// A column that one of our enums reads from text.
    pub(super) fn parse<T>(
        &self,
        index: usize,
        parse: fn(&str) -> Option<T>,
    ) -> Result<T, SqlError> {
        let text: String = self.get(index)?;
        parse(&text).ok_or_else(|| SqlError::Broken(format!("column {index} is `{text}`")))
    }
}

pub(super) trait FromValue: Sized {
    fn from_value(value: &Value) -> Option<Self>;
}

/// Null is absence; anything else must fit.
impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: &Value) -> Option<Option<T>> {
        if *value == Value::Null { Some(None) } else { T::from_value(value).map(Some) }
    }
}

macro_rules! read_values {
    ($($type:ty: $($pattern:pat => $result:expr),+;)*) => {$(
        impl FromValue for $type {
            fn from_value(value: &Value) -> Option<$type> {
                match value {
                    $($pattern => $result,)+
                    _ => None,
                }
            }
        }
    )*};
}

read_values! {
    i64: Value::Int(number) => Some(*number);
    u64: Value::Int(number) => u64::try_from(*number).ok();
    u32: Value::Int(number) => u32::try_from(*number).ok();
    u8: Value::Int(number) => u8::try_from(*number).ok();
    bool: Value::Int(number) => Some(*number != 0), Value::Bool(truth) => Some(*truth);
    String: Value::Text(text) => Some(text.clone()), Value::Json(text) => Some(text.clone());
    Vec<u8>: Value::Bytes(bytes) => Some(bytes.clone());
    [u8; 32]: Value::Bytes(bytes) => bytes.as_slice().try_into().ok();
    Uuid: Value::Bytes(bytes) => Uuid::from_slice(bytes).ok(), Value::Uuid(uuid) => Some(*uuid);
    Timestamp: Value::Int(ms) => Some(Timestamp::from_ms(*ms)), Value::Time(time) => Some(*time);
    Won: Value::Int(amount) => Won::new(*amount);
}

macro_rules! write_values {
    ($($type:ty: $value:ident => $result:expr;)*) => {$(
        impl From<$type> for Value {
            fn from($value: $type) -> Value {
                $result
            }
        }
    )*};
}

write_values! {
    i64: number => Value::Int(number);
    u32: number => Value::Int(i64::from(number));
    u8: number => Value::Int(i64::from(number));
    u16: number => Value::Int(i64::from(number));
    u64: number => Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
    usize: number => Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
    bool: truth => Value::Bool(truth);
    &str: text => Value::Text(text.to_owned());
    String: text => Value::Text(text);
    &String: text => Value::Text(text.clone());
    Vec<u8>: bytes => Value::Bytes(bytes);
    &[u8]: bytes => Value::Bytes(bytes.to_vec());
    [u8; 32]: bytes => Value::Bytes(bytes.to_vec());
    Uuid: uuid => Value::Uuid(uuid);
    Timestamp: time => Value::Time(time);
    Won: amount => Value::Int(amount.get());
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

macro_rules! id_values {
    ($($id:ident)*) => {$(
        impl From<domain::$id> for Value {
            fn from(id: domain::$id) -> Value {
                Value::Uuid(id.uuid())
            }
        }

        impl FromValue for domain::$id {
            fn from_value(value: &Value) -> Option<domain::$id> {
                Uuid::from_value(value).map(domain::$id::new)
            }
        }
    )*};
}

id_values! {
    DeadLetterId DeliveryId DeviceId EndpointId EventId HallId LedgerId LoginId MessageId NodeId PaymentId
    RefundId ReservationId ScheduleId SessionId SignalId StandbyId TicketId UserId VenueId
}

/// The parameters of a statement.
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        &[$($crate::sql::value::Value::from($value)),*]
    };
}

pub(super) use params;
