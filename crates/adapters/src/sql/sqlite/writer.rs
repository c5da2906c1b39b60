//! The one thread that writes, and its group commit.
//!
//! Commands of a batch run one after the other in one transaction. Hardly any of them fails after
//! it has changed something, so they run bare first, which spares SQLite a copy of every page for
//! a savepoint. When one does fail half-way, the batch is undone and run again with a savepoint
//! around each command, so that it undoes only itself. Nobody is answered before the `COMMIT` is on
//! the disk, which the syncer waits for.

mod command;

use super::checkpointer::Checkpointer;
use super::connection::{ConstraintNames, SqliteTx};
use super::stopped;
use super::syncer::Syncer;
use crate::sql::tx::{Guard, Work};
use app::ports::clock::Chance;
use app::{Error, Result, points};
use command::Pending;
use crossbeam_channel::{Receiver, Sender, TrySendError};
use futures::channel::oneshot;
use rusqlite::Connection;
use std::sync::Arc;
use std::thread;

pub(super) use command::{Command, run_now};

/// Most commands in one commit: bounds how long the first of them waits for the rest.
const COMMANDS_PER_COMMIT_MAX: usize = 512;

/// Waiting commands beyond this are turned away: by then the answer would come too late anyway.
const COMMANDS_WAITING_MAX: usize = 20_000;

/// After a batch had to be run again, this many are run with savepoints at once: what failed
/// half-way once tends to come in crowds.
const BATCHES_WARY: u32 = 16;

pub(super) struct Writer {
    commands: Sender<Box<dyn Command>>,
}

impl Writer {
    pub(super) fn start(
        connection: Connection,
        (checkpointer, syncer): (Checkpointer, Syncer),
        chance: Arc<dyn Chance>,
        off: Vec<Guard>,
    ) -> std::result::Result<Writer, String> {
        let names = ConstraintNames::load(&connection)?;
        checkpointer.take_over(&connection)?;
        syncer.take_over(&connection)?;
        let (commands, waiting) = crossbeam_channel::bounded(COMMANDS_WAITING_MAX);
        thread::Builder::new()
            .name("podo-writer".into())
            .spawn(move || {
                let mut tx = SqliteTx::on(&connection, &names, &*chance, &off);
                write_until_closed(&mut tx, &waiting, &checkpointer, &syncer);
            })
            .map_err(|error| error.to_string())?;
        Ok(Writer { commands })
    }

    pub(super) fn submit<W: Work>(
        &self,
        work: W,
        send: oneshot::Sender<Result<W::Output>>,
    ) -> Result<()> {
        self.commands.try_send(Pending::boxed(work, send)).map_err(|error| match error {
            TrySendError::Full(_) => {
                Error::Unavailable("too many commands are waiting for the database".into())
            }
            TrySendError::Disconnected(_) => stopped(),
        })
    }
}

fn write_until_closed(
    tx: &mut SqliteTx<'_>,
    waiting: &Receiver<Box<dyn Command>>,
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

/// Runs the batch in a transaction that is left open, without savepoints unless a batch before it or
/// this one had a command that failed half-way.
fn run_batch(
    tx: &mut SqliteTx<'_>,
    batch: &mut [Box<dyn Command>],
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

/// What was waiting when the batch begins, and no more: while it runs those who were answered come
/// back with their next command. A batch that took them in too would leave nobody for the next one,
/// and the writer would wait for all of them after each commit.
fn take_batch(
    first: Box<dyn Command>,
    waiting: &Receiver<Box<dyn Command>>,
) -> Vec<Box<dyn Command>> {
    let n_more = waiting.len().min(COMMANDS_PER_COMMIT_MAX - 1);
    std::iter::once(first).chain(waiting.try_iter().take(n_more)).collect()
}

/// Runs the batch without savepoints. False when a command failed half-way, or when SQLite itself
/// rolled the transaction back (a full disk, an I/O error): then everything is undone and a new
/// transaction is open. Without one the next command would commit on its own.
fn run_bare(
    tx: &mut SqliteTx<'_>,
    batch: &mut [Box<dyn Command>],
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

/// Runs the batch with a savepoint around each command: one that fails undoes only itself.
fn run_in_savepoints(tx: &mut SqliteTx<'_>, batch: &mut [Box<dyn Command>]) {
    for command in batch {
        run_in_savepoint(tx, &mut **command);
    }
}

fn run_in_savepoint(tx: &mut SqliteTx<'_>, command: &mut dyn Command) {
    // After a full disk SQLite undoes the whole transaction by itself. A savepoint outside one
    // would commit alone, behind the back of the others.
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
    points::reach(points::STORE_BEFORE_COMMIT);
    let committed = tx.step("commit").map_err(|error| {
        // What was not committed is undone and said so: nobody was answered yet.
        let _ = tx.step("rollback");
        tracing::error!(error, "A commit failed; its commands were undone");
        format!("commit failed: {error}")
    });
    points::reach(points::STORE_AFTER_COMMIT);
    committed
}

#[cfg(test)]
mod tests;
