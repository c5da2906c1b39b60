//! Sends statements to the server: one by one, or one for many parameter sets.

use crate::sql::engine::postgres::batch::array_sql::{Many, for_many};
use crate::sql::engine::postgres::connect::connection::Transaction;
use crate::sql::engine::postgres::types::{read_all, read_numbered, refer};
use crate::sql::engine::tx::SqlError;
use crate::sql::engine::value::{Row, Value};
use futures::future::try_join_all;
use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;

/// What a statement found or changed for one parameter set.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) n_changed: u64,
    pub(crate) rows: Vec<Row>,
}

/// Runs a statement with one set.
pub(crate) async fn send_one(
    transaction: &Transaction<'_>,
    statement: &Statement,
    sql: &str,
    set: &[Value],
) -> Result<Found, SqlError> {
    let params = refer(set, statement);
    if statement.columns().is_empty() {
        let n_changed = transaction.execute(statement, &params, sql).await?;
        return Ok(Found { n_changed, rows: Vec::new() });
    }
    let rows = transaction.query(statement, &params, sql).await?;
    let n_changed = if is_question(sql) { 0 } else { rows.len() as u64 };
    Ok(Found { n_changed, rows: read_all(statement, &rows)? })
}

/// Runs a statement with each set, as one statement if it can be rewritten. Returns each set's
/// result.
pub(crate) async fn send_each(
    transaction: &Transaction<'_>,
    sql: &str,
    sets: &[Vec<Value>],
    has_asker: bool,
) -> Result<Vec<Found>, SqlError> {
    let one = transaction.prepare(sql).await?;
    let many = if sets.len() > 1 { for_many(sql, one.params()) } else { None };
    let Some(many) = many.filter(|many| !has_asker || many.has_result_per_set()) else {
        // Pipelined; the server runs them in order.
        return try_join_all(sets.iter().map(|set| send_one(transaction, &one, sql, set))).await;
    };
    let statement = transaction.prepare(many.sql()).await?;
    let mut found = send_as_one(transaction, &statement, &many, &refer_all(sets)).await?;
    if let Many::Changes(_) = many {
        for (found, set) in found.iter_mut().zip(sets).filter(|(found, _)| found.n_changed == 0) {
            // An earlier set may have changed the same row, so run this one again.
            *found = send_one(transaction, &one, sql, set).await?;
        }
    }
    Ok(found)
}

fn refer_all(sets: &[Vec<Value>]) -> Vec<&[Value]> {
    sets.iter().map(Vec::as_slice).collect()
}

/// One statement's results for each set. If several sets want to change the same row, one does, and
/// the others change nothing.
pub(crate) async fn send_as_one(
    transaction: &Transaction<'_>,
    statement: &Statement,
    many: &Many,
    sets: &[&[Value]],
) -> Result<Vec<Found>, SqlError> {
    let columns = columns(sets, statement.params().len());
    let params: Vec<&(dyn ToSql + Sync)> =
        columns.iter().map(|column| column as &(dyn ToSql + Sync)).collect();
    if let Many::Inserts(_) | Many::Tries(_) = many {
        let n_added = transaction.execute(statement, &params, many.sql()).await?;
        // If the count per set is unknown, report the total, so a caller who checks for zero sees a
        // change.
        let n_changed =
            if many.has_result_per_set() { n_added / sets.len() as u64 } else { n_added };
        return Ok(sets.iter().map(|_| Found { n_changed, rows: Vec::new() }).collect());
    }
    let rows = transaction.query(statement, &params, many.sql()).await?;
    let mut found = sorted_out(read_numbered(statement, &rows)?, sets.len())?;
    if let Many::Changes(_) = many {
        found.iter_mut().for_each(|found| found.n_changed = found.rows.len() as u64);
    }
    Ok(found)
}

/// The parameter sets as one array per parameter.
fn columns<'v>(sets: &[&'v [Value]], n_params: usize) -> Vec<Vec<&'v Value>> {
    (0..n_params).map(|at| sets.iter().map(|set| &set[at]).collect()).collect()
}

/// The rows of each set, by their leading number.
fn sorted_out(rows: Vec<(i64, Row)>, n_sets: usize) -> Result<Vec<Found>, SqlError> {
    let mut found: Vec<Found> = Vec::with_capacity(n_sets);
    found.resize_with(n_sets, Found::default);
    for (number, row) in rows {
        let whose = usize::try_from(number - 1)
            .ok()
            .and_then(|index| found.get_mut(index))
            .ok_or_else(|| SqlError::Broken("a row has no parameter set".into()))?;
        whose.rows.push(row);
    }
    Ok(found)
}

fn is_question(sql: &str) -> bool {
    sql.trim_start().starts_with("select")
}
