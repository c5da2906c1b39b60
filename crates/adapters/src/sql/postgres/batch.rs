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

pub(super) use command::{Answer, Command, Pending};

use super::connection::{Connection, Transaction};
use super::many::{Many, for_many};
use super::send::{send_as_one, send_one};
use super::transaction::lock_key;
use crate::sql::tx::{Guard, SqlError};
use crate::sql::value::Value;
use app::points;
use app::ports::clock::Chance;
use command::Outcome;
use desk::{Ask, Desk, Round};
use futures::future::{BoxFuture, try_join, try_join_all};
use futures::task::noop_waker_ref;
use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;
use tokio_postgres::Statement;
use uuid::Uuid;

const LOCK: &str = "select pg_advisory_xact_lock(key) from unnest($1::bigint[]) as key";

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
    pub(super) async fn run(
        &mut self,
        connection: &mut Connection,
        commands: Vec<Box<dyn Command>>,
    ) {
        let (start, deadline) = (Instant::now(), connection.deadline());
        let mut batches = vec![commands];
        while let Some(mut batch) = batches.pop() {
            // Halves that wait for locks one after the other could go on for a minute.
            if deadline <= start.elapsed() {
                let why = "the database is too slow for all that waits".to_owned();
                batch.into_iter().for_each(|command| command.fail(why.clone()));
                continue;
            }
            match self.try_run(connection, &mut batch).await {
                End::Committed => batch.into_iter().for_each(Command::answer),
                End::Away(why) => {
                    // The others would ask on the same connection, and wait as long again.
                    let all = batches.drain(..).flatten().chain(batch);
                    all.for_each(|command| command.fail(why.clone()));
                }
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

    async fn try_run(
        &mut self,
        connection: &mut Connection,
        batch: &mut [Box<dyn Command>],
    ) -> End {
        let desk = Arc::new(Desk::new(batch.len(), self.chance.clone(), self.off.clone()));
        let result = async {
            let transaction = connection.begin().await?;
            self.run_side_by_side(&transaction, &desk, batch).await?;
            let alone = disturbed(&desk, batch);
            if alone.contains(&true) {
                // Dropping the transaction would undo it too, but only later.
                transaction.rollback().await?;
                return Ok(End::Disturbed(alone));
            }
            points::reach(points::STORE_BEFORE_COMMIT);
            transaction.commit().await?;
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
        // The last commands may leave something behind that nobody waits for.
        while !round.is_empty() {
            self.send(transaction, desk, round).await?;
            round = poll_all(&mut running, desk);
        }
        match running.is_empty() {
            true => Ok(()),
            false => Err(SqlError::Conflict("commands of a batch wait for each other".into())),
        }
    }

    /// Sends all of a round at once; the server runs it one after the other: first the locks, then
    /// what nobody waits for, then what is asked.
    async fn send(
        &mut self,
        transaction: &Transaction<'_>,
        desk: &Desk,
        round: Round,
    ) -> Result<(), SqlError> {
        let mut groups = by_statement(round.unasked);
        groups.extend(by_statement(round.asks));
        // Preparing a statement may take a while: nothing is sent before all of them are ready.
        let lock = transaction.prepare(LOCK).await?;
        let mut prepared = Vec::with_capacity(groups.len());
        for group in groups {
            prepared.push((self.prepare(transaction, &group).await?, group));
        }
        let sent =
            prepared.into_iter().map(|(way, group)| send_group(transaction, desk, way, group));
        try_join(take_locks(transaction, &lock, round.locks), try_join_all(sent)).await.map(drop)
    }

    async fn prepare(
        &mut self,
        transaction: &Transaction<'_>,
        group: &[Ask],
    ) -> Result<Prepared, SqlError> {
        let sql = group[0].sql;
        let one = transaction.prepare(sql).await?;
        let known = self.known.entry(sql);
        let many = known.or_insert_with(|| for_many(sql, one.params()).map(Arc::new)).clone();
        let many = match many {
            Some(many) if group.len() > 1 && (many.can_be_told() || !group[0].is_asked()) => {
                Some((transaction.prepare(many.sql()).await?, many))
            }
            _ => None,
        };
        Ok(Prepared { one, many })
    }
}

/// A group's statement, and the one for all of them if there are several.
struct Prepared {
    one: Statement,
    many: Option<(Statement, Arc<Many>)>,
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
            Outcome::Done => desk.was_outrun(who),
            Outcome::Refused => desk.was_outrun(who) || desk.has_changed(who),
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
    Prepared { one, many }: Prepared,
    group: Vec<Ask>,
) -> Result<(), SqlError> {
    let alone = async |ask: Ask| {
        let found = send_one(transaction, &one, ask.sql, &ask.params).await?;
        desk.answer(ask, found);
        Ok(())
    };
    let Some((statement, many)) = many else {
        return try_join_all(group.into_iter().map(alone)).await.map(drop);
    };
    let sets: Vec<&[Value]> = group.iter().map(|ask| ask.params.as_slice()).collect();
    let found = send_as_one(transaction, &statement, &many, &sets).await?;
    for (ask, found) in group.into_iter().zip(found) {
        // Perhaps a neighbour wanted the same row: then it is our turn now.
        match (&*many, found.n_changed) {
            (Many::Changes(_), 0) => alone(ask).await?,
            _ => desk.answer(ask, found),
        }
    }
    Ok(())
}

/// Takes the locks in one order, the same everywhere.
async fn take_locks(
    transaction: &Transaction<'_>,
    statement: &Statement,
    locks: Vec<Uuid>,
) -> Result<(), SqlError> {
    if locks.is_empty() {
        return Ok(());
    }
    let mut keys: Vec<i64> = locks.into_iter().map(lock_key).collect();
    keys.sort_unstable();
    transaction.execute(statement, &[&keys], LOCK).await.map(drop)
}
