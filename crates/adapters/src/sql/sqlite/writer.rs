//! The one thread that writes, and its group commit.

use super::connection::{ConstraintNames, SqliteTx};
use super::stopped;
use crate::sql::tx::{Guard, Work};
use app::ports::clock::Chance;
use app::{Error, Result};
use crossbeam_channel::{Receiver, Sender};
use futures::FutureExt;
use futures::channel::oneshot;
use rusqlite::Connection;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

/// Most commands in one commit: bounds how long the first of them waits for the rest.
const COMMANDS_PER_COMMIT_MAX: usize = 512;

/// Waiting commands beyond this are turned away: by then the answer would come too late anyway.
const COMMANDS_WAITING_MAX: usize = 20_000;

/// Runs one command inside the open transaction, if one could be opened, and says how to answer
/// once it is committed.
type Command = Box<dyn FnOnce(Option<&mut SqliteTx<'_>>) -> Answer + Send>;
type Answer = Box<dyn FnOnce(std::result::Result<(), String>)>;

pub(super) struct Writer {
    commands: Sender<Command>,
}

impl Writer {
    pub(super) fn start(
        mut connection: Connection,
        chance: Arc<dyn Chance>,
        off: Vec<Guard>,
    ) -> std::result::Result<Writer, String> {
        let names = ConstraintNames::load(&connection)?;
        let (commands, waiting) = crossbeam_channel::bounded(COMMANDS_WAITING_MAX);
        thread::Builder::new()
            .name("podo-writer".into())
            .spawn(move || {
                let mut tx = SqliteTx {
                    connection: &mut connection,
                    names: &names,
                    chance: &*chance,
                    off: &off,
                };
                write_until_closed(&mut tx, &waiting);
            })
            .map_err(|error| error.to_string())?;
        Ok(Writer { commands })
    }

    pub(super) fn submit<W: Work>(
        &self,
        work: W,
        send: oneshot::Sender<Result<W::Output>>,
    ) -> Result<()> {
        let command: Command = Box::new(move |tx| {
            let result = tx.map(|tx| run_in_savepoint(tx, &work));
            Box::new(move |committed| {
                let answer = match (committed, result) {
                    (Ok(()), Some(result)) => result,
                    (Ok(()), None) => Err(Error::Unavailable("no transaction was open".into())),
                    (Err(why), _) => Err(Error::Unavailable(why)),
                };
                // The asker may have gone; the work is done all the same.
                let _ = send.send(answer);
            })
        });
        self.commands.try_send(command).map_err(|error| match error {
            crossbeam_channel::TrySendError::Full(_) => {
                Error::Unavailable("too many commands are waiting for the database".into())
            }
            crossbeam_channel::TrySendError::Disconnected(_) => stopped(),
        })
    }
}

fn write_until_closed(tx: &mut SqliteTx<'_>, waiting: &Receiver<Command>) {
    while let Ok(first) = waiting.recv() {
        let begun = tx.step("begin immediate");
        let commands = [first].into_iter().chain(waiting.try_iter());
        let answers: Vec<Answer> = commands
            .take(COMMANDS_PER_COMMIT_MAX)
            .map(|command| command(begun.is_ok().then_some(&mut *tx)))
            .collect();
        let committed = begun.and_then(|()| commit(tx));
        for answer in answers {
            answer(committed.clone());
        }
    }
}

fn commit(tx: &SqliteTx<'_>) -> std::result::Result<(), String> {
    tx.step("commit").map_err(|error| {
        // What was not committed is undone and said so: nobody was answered yet.
        let _ = tx.step("rollback");
        tracing::error!(error, "A commit failed; its commands were undone");
        format!("commit failed: {error}")
    })
}

/// A command that is refused or fails leaves no trace in the shared transaction.
fn run_in_savepoint<W: Work>(tx: &mut SqliteTx<'_>, work: &W) -> Result<W::Output> {
    // A savepoint outside a transaction would commit by itself, behind the back of the others.
    if !tx.is_open() {
        return Err(Error::Unavailable("the shared transaction was undone".into()));
    }
    tx.step("savepoint command").map_err(Error::Unavailable)?;
    let result = run_now(tx, work);
    if result.is_err() {
        tx.step("rollback to command").map_err(Error::Unavailable)?;
    }
    tx.step("release command").map_err(Error::Unavailable)?;
    result
}

/// SQLite's futures are ready at once, so one poll runs the whole command. A panic is a bug of
/// that command, not the end of the writer.
pub(super) fn run_now<W: Work>(tx: &mut SqliteTx<'_>, work: &W) -> Result<W::Output> {
    let run = AssertUnwindSafe(|| work.run(tx).now_or_never());
    match catch_unwind(run) {
        Ok(Some(result)) => result,
        Ok(None) => Err(Error::Broken("a command waited for something but the database".into())),
        Err(_) => Err(Error::Broken("a command panicked".into())),
    }
}
