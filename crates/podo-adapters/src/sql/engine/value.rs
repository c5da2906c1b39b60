//! Conversion of values to and from SQL.

use crate::sql::engine::tx::SqlError;
use podo_domain::{Timestamp, Won};
use serde::de::DeserializeOwned;
use std::sync::Arc;
use uuid::Uuid;

/// A parameter or a column. SQLite stores UUIDs as 16 bytes, times as milliseconds, JSON as text
/// and booleans as 0 or 1; PostgreSQL has native types for them.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub(crate) enum Value {
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
    /// A readable form for reports.
    pub(crate) fn shown(&self) -> String {
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

/// The lower bound of version 7 ids created at or after this moment, since they begin with their
/// time.
pub(crate) fn first_at(moment: Timestamp) -> Uuid {
    let ms = u128::try_from(moment.ms()).unwrap_or(0);
    Uuid::from_u128(ms << 80)
}

/// The column names of a result, shared by all its rows.
#[derive(Clone, Debug)]
pub(crate) struct Columns(Arc<[Box<str>]>);

impl Columns {
    pub(crate) fn named<'n>(names: impl IntoIterator<Item = &'n str>) -> Columns {
        Columns(names.into_iter().map(Box::from).collect())
    }

    /// A statement has a handful of columns, so a linear search beats a hash.
    fn position(&self, name: &str) -> Option<usize> {
        let position = self.0.iter().position(|known| **known == *name)?;
        // A join that selects `r.id` and `s.id` without an alias would silently return the first.
        debug_assert!(
            !self.0[position + 1..].iter().any(|other| **other == *name),
            "two columns are named `{name}`: {}",
            self.0.join(", ")
        );
        Some(position)
    }
}

/// A row of a result. Columns are read by name.
#[derive(Debug)]
pub(crate) struct Row {
    columns: Columns,
    values: Vec<Value>,
}

impl Row {
    pub(crate) fn new(columns: &Columns, values: Vec<Value>) -> Row {
        Row { columns: columns.clone(), values }
    }

    /// The column of this name. An unknown name or a mismatched type is a bug in the query.
    pub(crate) fn get<T: FromValue>(&self, name: &str) -> Result<T, SqlError> {
        let position = self.columns.position(name);
        let value = position.and_then(|position| self.values.get(position)).ok_or_else(|| {
            let known = self.columns.0.join(", ");
            SqlError::Broken(format!("no column `{name}`; there are {known}"))
        })?;
        T::from_value(value)
            .ok_or_else(|| SqlError::Broken(format!("column `{name}` has another type: {value:?}")))
    }

    /// A column whose text parses into one of our enums.
    pub(crate) fn parse<T>(&self, name: &str, parse: fn(&str) -> Option<T>) -> Result<T, SqlError> {
        let text: String = self.get(name)?;
        parse(&text).ok_or_else(|| SqlError::Broken(format!("column `{name}` is `{text}`")))
    }

    /// A column that holds JSON.
    pub(crate) fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T, SqlError> {
        let text: String = self.get(name)?;
        serde_json::from_str(&text)
            .map_err(|error| SqlError::Broken(format!("column `{name}`: {error}")))
    }

    /// All values in the order of the select, for code that doesn't know the statement.
    pub(crate) fn values(&self) -> &[Value] {
        &self.values
    }
}

pub(crate) trait FromValue: Sized {
    fn from_value(value: &Value) -> Option<Self>;
}

/// Null is `None`; anything else must have the right type.
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
        impl From<podo_domain::$id> for Value {
            fn from(id: podo_domain::$id) -> Value {
                Value::Uuid(id.uuid())
            }
        }

        impl FromValue for podo_domain::$id {
            fn from_value(value: &Value) -> Option<podo_domain::$id> {
                Uuid::from_value(value).map(podo_domain::$id::new)
            }
        }
    )*};
}

id_values! {
    AllocationId AnnouncementId ApiKeyId ClaimId DeadLetterId DeliveryId DeviceId EndpointId EventId HallId ImportId LedgerId LoginId
    MessageId NodeId NoteId PaymentId PhaseId PromotionId RefundId ResaleId ReservationId
    ScheduleId SessionId SignalId StandbyId TicketId UserId VenueId
}

/// The parameters of a statement.
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        &[$($crate::sql::engine::value::Value::from($value)),*]
    };
}

pub(crate) use params;

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        let columns = Columns::named(["id", "status", "status"]);
        Row::new(&columns, vec![Value::Int(7), Value::from("OPEN"), Value::Null])
    }

    #[test]
    fn a_column_is_found_by_its_name() {
        assert_eq!(row().get::<i64>("id").unwrap(), 7);
        assert_eq!(row().values().len(), 3);
    }

    #[test]
    fn an_unknown_name_says_which_columns_there_are() {
        let error = row().get::<i64>("user_id").unwrap_err();
        let SqlError::Broken(why) = error else { panic!("{error:?}") };
        assert_eq!(why, "no column `user_id`; there are id, status, status");
    }

    #[test]
    #[should_panic(expected = "two columns are named `status`: id, status, status")]
    fn a_name_that_two_columns_have_is_a_bug() {
        let _ = row().get::<String>("status");
    }
}
