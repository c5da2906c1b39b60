//! Many commands in one transaction, their statements shared.
//!
//! Every command is written as if it were alone. In a batch it runs until it asks the database
//! something. When all of them wait, what many asked with the same statement is sent as one
//! statement over arrays, and each gets its own rows back. So a hundred purchases cost as many
//! statements, and one commit, as one purchase does.
//!
//! The commands of a batch see each other's changes at once, and nobody is answered before the
//! commit. A command that fails after it changed something, or that met another one, would leave
//! traces: then everything is undone, it is run in a transaction of its own, and the rest again.

mod command;
mod desk;
mod many;

pub(super) use command::{Answer, Command, Pending};

use super::transaction::{explain, lock_key};
use super::types::{read, refer};
use crate::sql::tx::{Guard, SqlError};
use crate::sql::value::Value;
use app::points;
use app::ports::clock::Chance;
use command::Outcome;
use deadpool_postgres::{Client, Transaction};
use desk::{Ask, Desk, Found, Round};
use futures::future::{BoxFuture, try_join_all};
use futures::task::noop_waker_ref;
use many::{Many, for_many};
use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;

/// Runs batches on one connection after the other.
pub(super) struct Batches {
    chance: Arc<dyn Chance>,
    off: Arc<[Guard]>,
    /// The statements seen so far, rewritten for many.
    known: HashMap<&'static str, Option<Arc<Many>>>,
}

/// How a batch ended.
enum End {
    Committed,
    /// These commands have to run alone, the others again.
    Disturbed(Vec<bool>),
    /// Something failed, and nobody knows whose fault it was.
    Failed,
    /// The engine is away.
    Away(String),
}

impl Batches {
    pub(super) fn new(chance: Arc<dyn Chance>, off: Vec<Guard>) -> Batches {
        Batches { chance, off: off.into(), known: HashMap::new() }
    }

    /// Runs the commands and answers all of them.
    pub(super) async fn run(&mut self, client: &mut Client, commands: Vec<Box<dyn Command>>) {
        let mut batches = vec![commands];
        while let Some(mut batch) = batches.pop() {
            match self.try_run(client, &mut batch).await {
                End::Committed => batch.into_iter().for_each(Command::answer),
                End::Away(why) => batch.into_iter().for_each(|command| command.fail(why.clone())),
                End::Disturbed(alone) => {
                    let mut rest = Vec::with_capacity(batch.len());
                    for (command, is_alone) in batch.into_iter().zip(alone) {
                        match is_alone {
                            true => command.send_away(),
                            false => rest.push(command),
                        }
                    }
                    batches.extend((!rest.is_empty()).then_some(rest));
                }
                End::Failed if batch.len() == 1 => batch.into_iter().for_each(Command::send_away),
                End::Failed => {
                    let other_half = batch.split_off(batch.len() / 2);
                    batches.extend([batch, other_half]);
                }
            }
        }
    }

    async fn try_run(&mut self, client: &mut Client, batch: &mut [Box<dyn Command>]) -> End {
        let desk = Arc::new(Desk::new(batch.len(), self.chance.clone(), self.off.clone()));
        let result = async {
            let transaction = client.transaction().await.map_err(|it| explain(&it, "begin"))?;
            self.run_side_by_side(&transaction, &desk, batch).await?;
            let alone = disturbed(&desk, batch);
            if alone.contains(&true) {
                // Dropping the transaction would undo it too, but only later.
                transaction.rollback().await.map_err(|it| explain(&it, "rollback"))?;
                return Ok(End::Disturbed(alone));
            }
            points::reach(points::STORE_BEFORE_COMMIT);
            transaction.commit().await.map_err(|error| explain(&error, "commit"))?;
            points::reach(points::STORE_AFTER_COMMIT);
            Ok(End::Committed)
        };
        match result.await {
            Ok(end) => end,
            Err(SqlError::Unavailable(why)) => End::Away(why),
            Err(SqlError::Constraint(_) | SqlError::Conflict(_) | SqlError::Broken(_)) => {
                End::Failed
            }
        }
    }

    async fn run_side_by_side(
        &mut self,
        transaction: &Transaction<'_>,
        desk: &Arc<Desk>,
        batch: &mut [Box<dyn Command>],
    ) -> Result<(), SqlError> {
        let mut running: Vec<(usize, BoxFuture<'_, ()>)> = Vec::with_capacity(batch.len());
        for (who, command) in batch.iter_mut().enumerate() {
            running.push((who, command.run(desk.clone(), who)));
        }
        let mut round = poll_all(&mut running, desk);
        // The last commands may leave something to be added behind.
        while !round.is_empty() {
            self.send(transaction, desk, round).await?;
            round = poll_all(&mut running, desk);
        }
        match running.is_empty() {
            true => Ok(()),
            false => Err(SqlError::Conflict("commands of a batch wait for each other".into())),
        }
    }

    async fn send(
        &mut self,
        transaction: &Transaction<'_>,
        desk: &Desk,
        round: Round,
    ) -> Result<(), SqlError> {
        if !round.locks.is_empty() {
            lock_all(transaction, round.locks).await?;
        }
        let mut groups = by_statement(round.added);
        groups.extend(by_statement(round.asks));
        for group in &groups {
            self.learn(transaction, group[0].sql).await?;
        }
        let known = &self.known;
        // Sent at once, run by the server one after the other.
        let sent = groups.into_iter().map(|group| {
            let many = known.get(group[0].sql).and_then(Option::as_deref);
            send_group(transaction, desk, many, group)
        });
        try_join_all(sent).await.map(drop)
    }

    /// Rewrites a statement that is seen for the first time.
    async fn learn(
        &mut self,
        transaction: &Transaction<'_>,
        sql: &'static str,
    ) -> Result<(), SqlError> {
        if !self.known.contains_key(sql) {
            let statement = prepare(transaction, sql).await?;
            self.known.insert(sql, for_many(sql, statement.params()).map(Arc::new));
        }
        Ok(())
    }
}

/// Lets every command go on as far as it can; those that are over leave. Gives what they ask.
fn poll_all(running: &mut Vec<(usize, BoxFuture<'_, ()>)>, desk: &Desk) -> Round {
    loop {
        // Only the desk wakes them, and we know when that is.
        let mut context = Context::from_waker(noop_waker_ref());
        let n_running = running.len();
        running.retain_mut(|(who, future)| match future.as_mut().poll(&mut context) {
            Poll::Ready(()) => {
                desk.leave(*who);
                false
            }
            Poll::Pending => true,
        });
        let round = desk.take();
        let may_go_on = running.len() < n_running && round.is_empty();
        if !may_go_on {
            return round;
        }
    }
}

/// Which commands must not be part of this commit.
fn disturbed(desk: &Desk, batch: &[Box<dyn Command>]) -> Vec<bool> {
    let mut alone = Vec::with_capacity(batch.len());
    for (who, command) in batch.iter().enumerate() {
        alone.push(match command.outcome() {
            Outcome::Done => false,
            Outcome::Refused => desk.has_changed(who),
            Outcome::Disturbed => true,
        });
    }
    alone
}

/// The asks of each statement, in the order of their parameters: whoever changes the same rows
/// from elsewhere takes them in the same order.
fn by_statement(asks: Vec<Ask>) -> Vec<Vec<Ask>> {
    let mut groups: Vec<Vec<Ask>> = Vec::new();
    for ask in asks {
        match groups.iter_mut().find(|group| std::ptr::eq(group[0].sql, ask.sql)) {
            Some(group) => group.push(ask),
            None => groups.push(vec![ask]),
        }
    }
    for group in &mut groups {
        group.sort_by(|one, other| {
            one.params.partial_cmp(&other.params).unwrap_or(std::cmp::Ordering::Equal)
        });
    }
    groups
}

async fn send_group(
    transaction: &Transaction<'_>,
    desk: &Desk,
    many: Option<&Many>,
    group: Vec<Ask>,
) -> Result<(), SqlError> {
    match many {
        Some(many) if group.len() > 1 => send_as_one(transaction, desk, many, group).await,
        _ => try_join_all(group.into_iter().map(|ask| send_one(transaction, desk, ask)))
            .await
            .map(drop),
    }
}

async fn send_one(transaction: &Transaction<'_>, desk: &Desk, ask: Ask) -> Result<(), SqlError> {
    let sql = ask.sql;
    let statement = prepare(transaction, sql).await?;
    let params = refer(&ask.params, &statement);
    let found = if statement.columns().is_empty() {
        let done = transaction.execute(&statement, &params).await;
        Found { n_changed: done.map_err(|error| explain(&error, sql))?, rows: Vec::new() }
    } else {
        let rows = transaction.query(&statement, &params).await;
        let rows = rows.map_err(|error| explain(&error, sql))?;
        let n_changed = if is_question(sql) { 0 } else { rows.len() as u64 };
        Found { n_changed, rows: rows.iter().map(read).collect::<Result<_, _>>()? }
    };
    desk.answer(ask, found);
    Ok(())
}

async fn send_as_one(
    transaction: &Transaction<'_>,
    desk: &Desk,
    many: &Many,
    group: Vec<Ask>,
) -> Result<(), SqlError> {
    let found = find_for_all(transaction, many, &group).await?;
    for (ask, found) in group.into_iter().zip(found) {
        // Perhaps a neighbour wanted the same row: then it is our turn now.
        match (many, found.n_changed) {
            (Many::Changes(_), 0) => send_one(transaction, desk, ask).await?,
            _ => desk.answer(ask, found),
        }
    }
    Ok(())
}

/// What one statement finds or changes for each of the group.
async fn find_for_all(
    transaction: &Transaction<'_>,
    many: &Many,
    group: &[Ask],
) -> Result<Vec<Found>, SqlError> {
    let statement = prepare(transaction, many.sql()).await?;
    let columns = columns(group, statement.params().len());
    let params: Vec<&(dyn ToSql + Sync)> =
        columns.iter().map(|column| column as &(dyn ToSql + Sync)).collect();
    let complain = |error| explain(&error, many.sql());
    if let Many::Inserts(_) = many {
        let n_added = transaction.execute(&statement, &params).await.map_err(complain)?;
        let n_each = n_added / group.len() as u64;
        return Ok(group.iter().map(|_| Found { n_changed: n_each, rows: Vec::new() }).collect());
    }
    let rows = transaction.query(&statement, &params).await.map_err(complain)?;
    let mut found = sorted_out(&rows, group.len())?;
    if let Many::Changes(_) = many {
        found.iter_mut().for_each(|found| found.n_changed = found.rows.len() as u64);
    }
    Ok(found)
}

/// The parameter sets of a group as one array per parameter.
fn columns(group: &[Ask], n_params: usize) -> Vec<Vec<&Value>> {
    (0..n_params).map(|at| group.iter().map(|ask| &ask.params[at]).collect()).collect()
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

async fn prepare(transaction: &Transaction<'_>, sql: &str) -> Result<Statement, SqlError> {
    transaction.prepare_cached(sql).await.map_err(|error| explain(&error, sql))
}

/// Takes the locks in one order, the same everywhere.
async fn lock_all(
    transaction: &Transaction<'_>,
    locks: Vec<(uuid::Uuid, futures::channel::oneshot::Sender<()>)>,
) -> Result<(), SqlError> {
    let mut keys: Vec<i64> = locks.iter().map(|(what, _)| lock_key(*what)).collect();
    keys.sort_unstable();
    let sql = "select pg_advisory_xact_lock(key) from unnest($1::bigint[]) as key";
    let statement = prepare(transaction, sql).await?;
    transaction.execute(&statement, &[&keys]).await.map_err(|error| explain(&error, sql))?;
    for (_, send) in locks {
        let _ = send.send(());
    }
    Ok(())
}
