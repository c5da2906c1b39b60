//! Converts our values to and from PostgreSQL's types, as the statement expects.

use crate::sql::engine::tx::SqlError;
use crate::sql::engine::value::{Columns, Row, Value};
use bytes::{BufMut, BytesMut};
use podo_domain::Timestamp;
use tokio_postgres::Statement;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type};
use uuid::Uuid;

type Failure = Box<dyn std::error::Error + Sync + Send>;

/// The values that a statement takes, which may be fewer than were given.
pub(crate) fn refer<'v>(values: &'v [Value], statement: &Statement) -> Vec<&'v (dyn ToSql + Sync)> {
    let n_taken = statement.params().len();
    values.iter().take(n_taken).map(|value| value as &(dyn ToSql + Sync)).collect()
}

/// Microseconds from 1970 to 2000, PostgreSQL's epoch.
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
                // The version of the binary format of `jsonb`.
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

/// A column of any type that our tables use.
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

/// The rows that a statement found.
pub(crate) fn read_all(
    statement: &Statement,
    rows: &[tokio_postgres::Row],
) -> Result<Vec<Row>, SqlError> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let columns = columns_of(statement, 0);
    rows.iter().map(|row| Ok(Row::new(&columns, values(row, 0)?))).collect()
}

/// The rows of an array statement, each with the number of its parameter set, which is the first
/// column. The rows have the columns of the single statement.
pub(crate) fn read_numbered(
    statement: &Statement,
    rows: &[tokio_postgres::Row],
) -> Result<Vec<(i64, Row)>, SqlError> {
    let columns = columns_of(statement, 1);
    let read = |row: &tokio_postgres::Row| {
        let number = row.try_get(0).map_err(|error| SqlError::Broken(error.to_string()))?;
        Ok((number, Row::new(&columns, values(row, 1)?)))
    };
    rows.iter().map(read).collect()
}

fn columns_of(statement: &Statement, first: usize) -> Columns {
    let columns = statement.columns().get(first..).unwrap_or_default();
    Columns::named(columns.iter().map(tokio_postgres::Column::name))
}

fn values(row: &tokio_postgres::Row, first: usize) -> Result<Vec<Value>, SqlError> {
    let column = |index| {
        let column: Result<Column, _> = row.try_get(index);
        column.map(|column| column.0).map_err(|error| SqlError::Broken(error.to_string()))
    };
    (first..row.len()).map(column).collect()
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
