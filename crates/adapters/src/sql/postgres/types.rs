//! Our values as PostgreSQL's types, by what the statement expects, and back.

use crate::sql::tx::SqlError;
use crate::sql::value::{Row, Value};
use bytes::{BufMut, BytesMut};
use domain::Timestamp;
use tokio_postgres::Statement;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type};
use uuid::Uuid;

type Failure = Box<dyn std::error::Error + Sync + Send>;

/// The values that a statement takes; it may take fewer than were given.
pub(super) fn refer<'v>(values: &'v [Value], statement: &Statement) -> Vec<&'v (dyn ToSql + Sync)> {
    let n_taken = statement.params().len();
    values.iter().take(n_taken).map(|value| value as &(dyn ToSql + Sync)).collect()
}

/// Microseconds from 1970 to 2000, where PostgreSQL's clock starts.
const EPOCH_MICROS: i64 = 946_684_800_000_000;

fn to_micros(time: Timestamp) -> i64 {
    time.ms().saturating_mul(1_000).saturating_sub(EPOCH_MICROS)
}

fn from_micros(micros: i64) -> Timestamp {
    Timestamp::from_ms((micros + EPOCH_MICROS).div_euclid(1_000))
}

impl ToSql for Value {
    fn to_sql(&self, expected: &Type, out: &mut BytesMut) -> Result<IsNull, Failure> {
        match (self, expected) {
            (Value::Null, _) => return Ok(IsNull::Yes),
            (Value::Int(number), &Type::INT8) => out.put_i64(*number),
            (Value::Int(number), &Type::INT4) => out.put_i32(i32::try_from(*number)?),
            (Value::Bool(truth), &Type::BOOL) => out.put_u8(u8::from(*truth)),
            (Value::Text(text) | Value::Json(text), &Type::JSONB) => {
                // The version of the binary form.
                out.put_u8(1);
                out.put_slice(text.as_bytes());
            }
            (Value::Text(text) | Value::Json(text), &Type::TEXT | &Type::VARCHAR) => {
                out.put_slice(text.as_bytes());
            }
            (Value::Bytes(bytes), &Type::BYTEA) => out.put_slice(bytes),
            (Value::Uuid(uuid), &Type::UUID) => out.put_slice(uuid.as_bytes()),
            (Value::Time(time), &Type::TIMESTAMPTZ) => out.put_i64(to_micros(*time)),
            (value, expected) => return Err(format!("{value:?} is no {expected}").into()),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}

/// A column of any type that our tables have.
struct Column(Value);

impl<'a> FromSql<'a> for Column {
    fn from_sql(given: &Type, raw: &'a [u8]) -> Result<Column, Failure> {
        Ok(Column(match *given {
            Type::INT8 => Value::Int(i64::from_be_bytes(raw.try_into()?)),
            Type::INT4 => Value::Int(i64::from(i32::from_be_bytes(raw.try_into()?))),
            Type::BOOL => Value::Bool(raw != [0]),
            Type::TEXT | Type::VARCHAR | Type::UNKNOWN => {
                Value::Text(String::from_utf8(raw.to_vec())?)
            }
            Type::JSONB => {
                Value::Json(String::from_utf8(raw.get(1..).unwrap_or_default().to_vec())?)
            }
            Type::BYTEA => Value::Bytes(raw.to_vec()),
            Type::UUID => Value::Uuid(Uuid::from_slice(raw)?),
            Type::TIMESTAMPTZ => Value::Time(from_micros(i64::from_be_bytes(raw.try_into()?))),
            ref other => return Err(format!("no column of ours is {other}").into()),
        }))
    }

    fn from_sql_null(_: &Type) -> Result<Column, Failure> {
        Ok(Column(Value::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

pub(super) fn read(row: &tokio_postgres::Row) -> Result<Row, SqlError> {
    let column = |index| {
        let column: Result<Column, _> = row.try_get(index);
        column.map(|column| column.0).map_err(|error| SqlError::Broken(error.to_string()))
    };
    (0..row.len()).map(column).collect::<Result<Vec<Value>, _>>().map(Row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_their_milliseconds() {
        for ms in [0, 1, -1, 1_706_164_200_123, Timestamp::FAR_FUTURE.ms()] {
            let time = Timestamp::from_ms(ms);
            assert_eq!(from_micros(to_micros(time)), time);
        }
    }
}
