//! A command in the writer's queue: it can run more than once, and is answered once.

use crate::sql::engine::sqlite::connection::SqliteTx;
use crate::sql::engine::tx::{Command, Tx};
use futures::FutureExt;
use futures::channel::oneshot;
use podo_app::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(crate) trait QueuedCommand: Send {
    /// Runs it in the open transaction and stores the result, in place of an earlier one. Returns
    /// false if it was refused or failed.
    fn run(&mut self, tx: &mut SqliteTx<'_>) -> bool;

    /// Stores an engine failure as the result.
    fn fail(&mut self, why: String);

    /// Answers the caller, once it is known whether the transaction is on disk.
    fn answer(self: Box<Self>, committed: &std::result::Result<(), String>);
}

pub(crate) struct Pending<W: Command> {
    command: W,
    result: Option<Result<W::Output>>,
    send: oneshot::Sender<Result<W::Output>>,
}

impl<W: Command> Pending<W> {
    pub(crate) fn boxed(
        command: W,
        send: oneshot::Sender<Result<W::Output>>,
    ) -> Box<dyn QueuedCommand> {
        Box::new(Pending { command, result: None, send })
    }
}

impl<W: Command> QueuedCommand for Pending<W> {
    fn run(&mut self, tx: &mut SqliteTx<'_>) -> bool {
        let result = run_now(tx, &self.command);
        let is_done = result.is_ok();
        self.result = Some(result);
        is_done
    }

    fn fail(&mut self, why: String) {
        self.result = Some(Err(Error::Unavailable(why)));
    }

    fn answer(self: Box<Self>, committed: &std::result::Result<(), String>) {
        let answer = match (committed, self.result) {
            (Ok(()), Some(result)) => result,
            (Ok(()), None) => Err(Error::Broken("a command was not run".into())),
            // A refusal may depend on a lost change of the same batch, so every command gets the
            // failure.
            (Err(why), _) => Err(Error::Unavailable(why.clone())),
        };
        // The caller may have gone; the command is committed all the same.
        let _ = self.send.send(answer);
    }
}

/// SQLite's futures are ready at once, so one poll runs the whole command. A panic is a bug in that
/// command and must not stop the writer.
pub(crate) fn run_now<W: Command>(tx: &mut dyn Tx, command: &W) -> Result<W::Output> {
    let run = AssertUnwindSafe(|| command.run(tx).now_or_never());
    match catch_unwind(run) {
        Ok(Some(result)) => result,
        Ok(None) => {
            Err(Error::Broken("a command awaited something other than the database".into()))
        }
        Err(_) => Err(Error::Broken("a command panicked".into())),
    }
}
