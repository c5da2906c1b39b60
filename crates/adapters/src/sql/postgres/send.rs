//! Statements on their way to the server: each by itself, or one for many parameter sets.

use super::connection::Transaction;
use super::many::{Many, for_many};
use super::types::{read, refer};
use crate::sql::tx::SqlError;
use crate::sql::value::{Row, Value};
use futures::future::try_join_all;
use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;

/// What a statement found or changed with one parameter set.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) n_changed: u64,
    pub(super) rows: Vec<Row>,
}

/// Runs a statement with one set.
pub(super) async fn send_one(
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
    Ok(Found { n_changed, rows: rows.iter().map(read).collect::<Result<_, _>>()? })
}

/// Runs a statement with each set, as one if it can be rewritten; what each of them found.
pub(super) async fn send_each(
    transaction: &Transaction<'_>,
    sql: &str,
    sets: &[Vec<Value>],
    is_asked: bool,
) -> Result<Vec<Found>, SqlError> {
    let one = transaction.prepare(sql).await?;
    let many = if sets.len() > 1 { for_many(sql, one.params()) } else { None };
    let Some(many) = many.filter(|many| !is_asked || many.can_be_told()) else {
        // Sent at once, run by the server one after the other.
        return try_join_all(sets.iter().map(|set| send_one(transaction, &one, sql, set))).await;
    };
    let statement = transaction.prepare(many.sql()).await?;
    let mut found = send_as_one(transaction, &statement, &many, &refer_all(sets)).await?;
    if let Many::Changes(_) = many {
        for (found, set) in found.iter_mut().zip(sets).filter(|(found, _)| found.n_changed == 0) {
            // Perhaps an earlier set wanted the same row: then it is its turn now.
            *found = send_one(transaction, &one, sql, set).await?;
        }
    }
    Ok(found)
}

fn refer_all(sets: &[Vec<Value>]) -> Vec<&[Value]> {
    sets.iter().map(Vec::as_slice).collect()
}

/// What one statement finds or changes for each set. Of sets that want to change the same row one
/// does, and the others find nothing to change.
pub(super) async fn send_as_one(
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
        // Where it cannot be told, whoever has to know may think that all of them were theirs.
        let n_changed = if many.can_be_told() { n_added / sets.len() as u64 } else { n_added };
        return Ok(sets.iter().map(|_| Found { n_changed, rows: Vec::new() }).collect());
    }
    let rows = transaction.query(statement, &params, many.sql()).await?;
    let mut found = sorted_out(&rows, sets.len())?;
    if let Many::Changes(_) = many {
        found.iter_mut().for_each(|found| found.n_changed = found.rows.len() as u64);
    }
    Ok(found)
}

/// The parameter sets as one array per parameter.
fn columns<'v>(sets: &[&'v [Value]], n_params: usize) -> Vec<Vec<&'v Value>> {
    (0..n_params).map(|at| sets.iter().map(|set| &set[at]).collect()).collect()
}

/// The rows of each set, by the number in front of them.
fn sorted_out(rows: &[tokio_postgres::Row], n_sets: usize) -> Result<Vec<Found>, SqlError> {
    let mut found: Vec<Found> = Vec::with_capacity(n_sets);
    found.resize_with(n_sets, Found::default);
    for row in rows {
        let mut row = read(row)?;
        let number: u64 = row.get(0)?;
        row.0.remove(0);
        let whose = found
            .get_mut(number.saturating_sub(1) as usize)
            .ok_or_else(|| SqlError::Broken("a row belongs to nobody who asked".into()))?;
        whose.rows.push(row);
    }
    Ok(found)
}

fn is_question(sql: &str) -> bool {
    sql.trim_start().starts_with("select")
}
