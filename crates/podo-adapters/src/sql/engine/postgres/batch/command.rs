//! A command in a batch: it may run more than once, and is answered once.

use crate::sql::engine::postgres::batch::statement_batcher::{BatchTx, StatementBatcher};
use crate::sql::engine::tx::Command;
use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::BoxFuture;
use podo_app::{Error, Result};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// The result of a command.
pub(crate) enum CommandReply<W: Command> {
    Done(Result<W::Output>),
    /// Conflicts with other commands: run it in its own transaction.
    Alone(W),
}

pub(crate) trait QueuedCommand: Send {
    /// Runs it as number `who` of a batch and stores the result.
    fn run(&mut self, batcher: Arc<StatementBatcher>, who: usize) -> BoxFuture<'_, ()>;

    /// What the stored result means for the batch.
    fn outcome(&self) -> Outcome;

    /// Sends the stored result to the caller, once the batch is on disk.
    fn answer(self: Box<Self>);

    /// Reports to the caller that the engine is unavailable.
    fn fail(self: Box<Self>, why: String);

    /// Returns the command to its caller.
    fn retry_alone(self: Box<Self>);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// Refused by a rule, as it would be alone.
    Refused,
    /// A conflict or a fault; alone, the result may differ.
    Disturbed,
}

pub(crate) struct Pending<W: Command> {
    command: W,
    result: Option<Result<W::Output>>,
    send: oneshot::Sender<CommandReply<W>>,
}

impl<W: Command> Pending<W> {
    pub(crate) fn boxed(
        command: W,
        send: oneshot::Sender<CommandReply<W>>,
    ) -> Box<dyn QueuedCommand> {
        Box::new(Pending { command, result: None, send })
    }
}

impl<W: Command> QueuedCommand for Pending<W> {
    fn run(&mut self, batcher: Arc<StatementBatcher>, who: usize) -> BoxFuture<'_, ()> {
        async move {
            let mut tx = BatchTx { batcher, who };
            // A panic is a bug in this command and must not fail the rest of the batch.
            let run = AssertUnwindSafe(self.command.run(&mut tx)).catch_unwind().await;
            let panicked = |_| Err(Error::Broken("a command panicked".into()));
            self.result = Some(run.unwrap_or_else(panicked));
        }
        .boxed()
    }

    fn outcome(&self) -> Outcome {
        match &self.result {
            Some(Ok(_)) => Outcome::Done,
            Some(Err(Error::Refused(_))) => Outcome::Refused,
            Some(Err(_)) | None => Outcome::Disturbed,
        }
    }

    fn answer(self: Box<Self>) {
        let result = self.result.unwrap_or_else(|| Err(Error::broken("a command was not run")));
        // The caller may have gone; the command is committed all the same.
        let _ = self.send.send(CommandReply::Done(result));
    }

    fn fail(self: Box<Self>, why: String) {
        let _ = self.send.send(CommandReply::Done(Err(Error::Unavailable(why))));
    }

    fn retry_alone(self: Box<Self>) {
        let _ = self.send.send(CommandReply::Alone(self.command));
    }
}
