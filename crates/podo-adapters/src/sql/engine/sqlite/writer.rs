//! The writer thread and its group commit.
//!
//! The commands of a batch run one after the other in one transaction. Few commands fail after they
//! have changed something, so the batch runs without savepoints first, which saves SQLite a copy of
//! every page. If a command does fail half-way, the batch rolls back and runs again with a
//! savepoint around each command, so that a failure undoes only itself. Commands get their answers
//! once the syncer has the `COMMIT` on disk.

mod command;

use crate::sql::engine::sqlite::checkpointer::Checkpointer;
use crate::sql::engine::sqlite::connection::{ConstraintNames, SqliteTx};
use crate::sql::engine::sqlite::stopped;
use crate::sql::engine::sqlite::syncer::Syncer;
use crate::sql::engine::tx::{Command, StoreContext};
use command::Pending;
use crossbeam_channel::{Receiver, Sender, TrySendError};
use futures::channel::oneshot;
use podo_app::operations::failpoints;
use podo_app::{Error, Result};
use rusqlite::Connection;
use std::sync::Arc;
use std::thread;

pub(crate) use command::{QueuedCommand, run_now};

/// The commit size limit bounds how long the first command waits for the rest.
const COMMANDS_PER_COMMIT_MAX: usize = 512;

/// Queue limit. Beyond it, commands are refused, because their answers would come too late.
const COMMANDS_WAITING_MAX: usize = 20_000;

/// After a batch had to run again, this many batches use savepoints from the start, because
/// half-way failures tend to cluster.
const BATCHES_WARY: u32 = 16;

pub(crate) struct Writer {
    commands: Sender<Box<dyn QueuedCommand>>,
}

impl Writer {
    pub(crate) fn start(
        connection: Connection,
        checkpointer: Checkpointer,
        syncer: Syncer,
        context: Arc<StoreContext>,
    ) -> std::result::Result<Writer, String> {
        let names = ConstraintNames::load(&connection)?;
        checkpointer.take_over(&connection)?;
        syncer.take_over(&connection)?;
        let (commands, waiting) = crossbeam_channel::bounded(COMMANDS_WAITING_MAX);
        thread::Builder::new()
            .name("podo-writer".into())
            .spawn(move || {
                let mut tx = SqliteTx::on(&connection, &names, &context);
                write_until_closed(&mut tx, &waiting, &checkpointer, &syncer);
            })
            .map_err(|error| error.to_string())?;
        Ok(Writer { commands })
    }

    pub(crate) fn submit<W: Command>(
        &self,
        command: W,
        send: oneshot::Sender<Result<W::Output>>,
    ) -> Result<()> {
        self.commands.try_send(Pending::boxed(command, send)).map_err(|error| match error {
            TrySendError::Full(_) => {
                Error::Unavailable("too many commands are waiting for the database".into())
            }
            TrySendError::Disconnected(_) => stopped(),
        })
    }
}

fn write_until_closed(
    tx: &mut SqliteTx<'_>,
    waiting: &Receiver<Box<dyn QueuedCommand>>,
    checkpointer: &Checkpointer,
    syncer: &Syncer,
) {
    let mut n_wary = 0;
    while let Ok(first) = waiting.recv() {
        let mut batch = take_batch(first, waiting);
        let run = run_batch(tx, &mut batch, &mut n_wary);
        syncer.begin_commit();
        let committed = run.and_then(|()| commit(tx));
        syncer.committed((batch, committed));
        checkpointer.committed(tx.connection());
    }
}

/// Runs the batch in a transaction that stays open. Uses savepoints only if a command of this batch
/// or a recent one failed half-way.
fn run_batch(
    tx: &mut SqliteTx<'_>,
    batch: &mut [Box<dyn QueuedCommand>],
    n_wary: &mut u32,
) -> std::result::Result<(), String> {
    tx.step("begin immediate")?;
    let is_clean = *n_wary == 0 && run_bare(tx, batch)?;
    if !is_clean {
        *n_wary = if *n_wary == 0 { BATCHES_WARY } else { *n_wary - 1 };
        run_in_savepoints(tx, batch);
    }
    Ok(())
}

/// Takes the commands queued at the start of the batch, and no more. While it runs, answered
/// callers come back with their next command. If the batch took those too, the next one would be
/// empty, and the writer would wait for all of them after each commit.
fn take_batch(
    first: Box<dyn QueuedCommand>,
    waiting: &Receiver<Box<dyn QueuedCommand>>,
) -> Vec<Box<dyn QueuedCommand>> {
    let n_more = waiting.len().min(COMMANDS_PER_COMMIT_MAX - 1);
    std::iter::once(first).chain(waiting.try_iter().take(n_more)).collect()
}

/// Runs the batch without savepoints. Returns false if a command failed half-way, or if SQLite
/// itself rolled the transaction back (a full disk, an I/O error). Everything is then undone and a
/// new transaction is open; without one, the next command would commit on its own.
fn run_bare(
    tx: &mut SqliteTx<'_>,
    batch: &mut [Box<dyn QueuedCommand>],
) -> std::result::Result<bool, String> {
    for command in batch {
        let n_changes = tx.n_changes();
        let is_done = command.run(tx);
        let is_half_done = !is_done && tx.n_changes() != n_changes;
        if is_half_done && tx.is_open() {
            tx.step("rollback")?;
        }
        if !tx.is_open() {
            return tx.step("begin immediate").map(|()| false);
        }
    }
    Ok(true)
}

/// Runs the batch with a savepoint around each command, so a failure undoes only itself.
fn run_in_savepoints(tx: &mut SqliteTx<'_>, batch: &mut [Box<dyn QueuedCommand>]) {
    for command in batch {
        run_in_savepoint(tx, &mut **command);
    }
}

fn run_in_savepoint(tx: &mut SqliteTx<'_>, command: &mut dyn QueuedCommand) {
    // After a full disk SQLite rolls back the whole transaction by itself. A savepoint outside a
    // transaction would commit alone, apart from the rest of the batch.
    let opened = match tx.is_open() {
        true => tx.step("savepoint command"),
        false => Err("the shared transaction was undone".into()),
    };
    let run = opened.and_then(|()| {
        if !command.run(tx) {
            tx.step("rollback to command")?;
        }
        tx.step("release command")
    });
    if let Err(why) = run {
        command.fail(why);
    }
}

fn commit(tx: &mut SqliteTx<'_>) -> std::result::Result<(), String> {
    failpoints::reach(failpoints::STORE_BEFORE_COMMIT);
    let committed = tx.step("commit").map_err(|error| {
        // Roll back and report it: no command has been answered yet.
        let _ = tx.step("rollback");
        tracing::error!(error, "Commit failed; its commands were rolled back");
        format!("commit failed: {error}")
    });
    failpoints::reach(failpoints::STORE_AFTER_COMMIT);
    committed
}

#[cfg(test)]
mod tests;
