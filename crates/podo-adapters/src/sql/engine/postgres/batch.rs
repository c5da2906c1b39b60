//! Many commands in one transaction, with shared statements.
//!
//! Every command is written as if it ran alone. In a batch, a command runs until it needs the
//! database. Once all of them wait, the batcher merges requests for the same statement into one
//! statement over arrays, and each command gets its own rows back. So a hundred purchases cost as
//! many statements, and one commit, as one purchase.
//!
//! The commands of a batch see each other's changes at once, and none is answered before the
//! commit. A command that fails after it changed something, or that conflicts with another one,
//! would leave traces. The batch then rolls back, that command runs in its own transaction, and the
//! rest run again.

pub(crate) mod array_sql;
mod command;
pub(crate) mod send;
mod statement_batcher;
pub(crate) mod writer;

pub(crate) use command::{CommandReply, Pending, QueuedCommand};

use crate::sql::engine::postgres::batch::array_sql::{Many, for_many};
use crate::sql::engine::postgres::batch::send::{send_as_one, send_one};
use crate::sql::engine::postgres::connect::connection::{Connection, Transaction};
use crate::sql::engine::postgres::transaction::lock_key;
use crate::sql::engine::tx::{SqlError, StoreContext};
use crate::sql::engine::value::Value;
use command::Outcome;
use futures::future::{BoxFuture, try_join, try_join_all};
use futures::task::noop_waker_ref;
use podo_app::operations::failpoints;
use statement_batcher::{QueuedStatement, Round, StatementBatcher};
use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;
use tokio_postgres::Statement;
use uuid::Uuid;

const LOCK: &str = "select pg_advisory_xact_lock(key) from unnest($1::bigint[]) as key";

/// Runs one batch at a time on one connection.
pub(crate) struct Batches {
    context: Arc<StoreContext>,
    /// The statements seen so far, with their array forms.
    known: HashMap<&'static str, Option<Arc<Many>>>,
}

/// The result of a batch.
enum End {
    Committed,
    /// These commands must run alone, the others again.
    Disturbed(Vec<bool>),
    /// An error that can't be attributed to one command.
    Failed,
    /// The engine is unreachable.
    Away(String),
}

impl Batches {
    pub(crate) fn new(context: Arc<StoreContext>) -> Batches {
        Batches { context, known: HashMap::new() }
    }

    /// Runs the commands and answers all of them.
    pub(crate) async fn run(
        &mut self,
        connection: &mut Connection,
        commands: Vec<Box<dyn QueuedCommand>>,
    ) {
        let (start, deadline) = (Instant::now(), connection.deadline());
        let mut batches = vec![commands];
        while let Some(mut batch) = batches.pop() {
            // Halves that wait for locks in sequence could take a minute.
            if deadline <= start.elapsed() {
                let why = "the database is too slow for all that waits".to_owned();
                batch.into_iter().for_each(|command| command.fail(why.clone()));
                continue;
            }
            match self.try_run(connection, &mut batch).await {
                End::Committed => batch.into_iter().for_each(QueuedCommand::answer),
                End::Away(why) => {
                    // The others would use the same connection and time out as well.
                    let all = batches.drain(..).flatten().chain(batch);
                    all.for_each(|command| command.fail(why.clone()));
                }
                End::Disturbed(alone) => {
                    let mut rest = Vec::with_capacity(batch.len());
                    for (command, is_alone) in batch.into_iter().zip(alone) {
                        match is_alone {
                            true => command.retry_alone(),
                            false => rest.push(command),
                        }
                    }
                    batches.extend((!rest.is_empty()).then_some(rest));
                }
                End::Failed if batch.len() == 1 => {
                    batch.into_iter().for_each(QueuedCommand::retry_alone);
                }
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
        batch: &mut [Box<dyn QueuedCommand>],
    ) -> End {
        let batcher = Arc::new(StatementBatcher::new(batch.len(), self.context.clone()));
        let result = async {
            let transaction = connection.begin().await?;
            self.run_side_by_side(&transaction, &batcher, batch).await?;
            let alone = disturbed(&batcher, batch);
            if alone.contains(&true) {
                // Dropping the transaction also rolls it back, but only later.
                transaction.rollback().await?;
                return Ok(End::Disturbed(alone));
            }
            failpoints::reach(failpoints::STORE_BEFORE_COMMIT);
            transaction.commit().await?;
            failpoints::reach(failpoints::STORE_AFTER_COMMIT);
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
        batcher: &Arc<StatementBatcher>,
        batch: &mut [Box<dyn QueuedCommand>],
    ) -> Result<(), SqlError> {
        let mut running: Vec<(usize, BoxFuture<'_, ()>)> = Vec::with_capacity(batch.len());
        for (who, command) in batch.iter_mut().enumerate() {
            running.push((who, command.run(batcher.clone(), who)));
        }
        let mut round = poll_all(&mut running, batcher);
        // The last commands may leave statements whose results aren't awaited.
        while !round.is_empty() {
            self.send(transaction, batcher, round).await?;
            round = poll_all(&mut running, batcher);
        }
        match running.is_empty() {
            true => Ok(()),
            false => Err(SqlError::Conflict("deadlock between commands of a batch".into())),
        }
    }

    /// Pipelines a round. The server runs it in order: locks, then statements without a waiting
    /// command, then queries.
    async fn send(
        &mut self,
        transaction: &Transaction<'_>,
        batcher: &StatementBatcher,
        round: Round,
    ) -> Result<(), SqlError> {
        let mut groups = by_statement(round.unasked);
        groups.extend(by_statement(round.asks));
        // Preparing a statement can take a while, so prepare all of them before sending anything.
        let lock = transaction.prepare(LOCK).await?;
        let mut prepared = Vec::with_capacity(groups.len());
        for group in groups {
            prepared.push((self.prepare(transaction, &group).await?, group));
        }
        let sent =
            prepared.into_iter().map(|(way, group)| send_group(transaction, batcher, way, group));
        try_join(take_locks(transaction, &lock, round.locks), try_join_all(sent)).await.map(drop)
    }

    async fn prepare(
        &mut self,
        transaction: &Transaction<'_>,
        group: &[QueuedStatement],
    ) -> Result<Prepared, SqlError> {
        let sql = group[0].sql;
        let one = transaction.prepare(sql).await?;
        let known = self.known.entry(sql);
        let many = known.or_insert_with(|| for_many(sql, one.params()).map(Arc::new)).clone();
        let many = match many {
            Some(many)
                if group.len() > 1 && (many.has_result_per_set() || !group[0].has_asker()) =>
            {
                Some((transaction.prepare(many.sql()).await?, many))
            }
            _ => None,
        };
        Ok(Prepared { one, many })
    }
}

/// A group's statement, and its array form if the group has several sets.
struct Prepared {
    one: Statement,
    many: Option<(Statement, Arc<Many>)>,
}

/// Polls every command as far as it can go and removes finished ones. Returns their requests.
fn poll_all(running: &mut Vec<(usize, BoxFuture<'_, ()>)>, batcher: &StatementBatcher) -> Round {
    loop {
        // Only the batcher wakes commands, and this loop knows when.
        let mut context = Context::from_waker(noop_waker_ref());
        let n_running = running.len();
        running.retain_mut(|(who, future)| match future.as_mut().poll(&mut context) {
            Poll::Ready(()) => {
                batcher.leave(*who);
                false
            }
            Poll::Pending => true,
        });
        let round = batcher.take();
        let may_go_on = running.len() < n_running && round.is_empty();
        if !may_go_on {
            return round;
        }
    }
}

/// The commands that must not be part of this commit.
fn disturbed(batcher: &StatementBatcher, batch: &[Box<dyn QueuedCommand>]) -> Vec<bool> {
    let mut alone = Vec::with_capacity(batch.len());
    for (who, command) in batch.iter().enumerate() {
        alone.push(match command.outcome() {
            Outcome::Done => batcher.has_conflict(who),
            Outcome::Refused => batcher.has_conflict(who) || batcher.has_changed(who),
            Outcome::Disturbed => true,
        });
    }
    alone
}

/// Groups the requests by statement and sorts them by parameters, so that concurrent batches lock
/// rows in the same order.
fn by_statement(asks: Vec<QueuedStatement>) -> Vec<Vec<QueuedStatement>> {
    let mut groups: Vec<Vec<QueuedStatement>> = Vec::new();
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
    batcher: &StatementBatcher,
    Prepared { one, many }: Prepared,
    group: Vec<QueuedStatement>,
) -> Result<(), SqlError> {
    let alone = async |ask: QueuedStatement| {
        let found = send_one(transaction, &one, ask.sql, &ask.params).await?;
        batcher.answer(ask, found);
        Ok(())
    };
    let Some((statement, many)) = many else {
        return try_join_all(group.into_iter().map(alone)).await.map(drop);
    };
    let sets: Vec<&[Value]> = group.iter().map(|ask| ask.params.as_slice()).collect();
    let found = send_as_one(transaction, &statement, &many, &sets).await?;
    for (ask, found) in group.into_iter().zip(found) {
        // Another command of the batch may have changed the same row first, so try again alone.
        match (&*many, found.n_changed) {
            (Many::Changes(_), 0) => alone(ask).await?,
            _ => batcher.answer(ask, found),
        }
    }
    Ok(())
}

/// Takes the locks in sorted order, which is the same on every node.
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
