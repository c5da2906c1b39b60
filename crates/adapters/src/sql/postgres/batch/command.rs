//! A command on its way through a batch: it may be run more than once, and is answered once.

use super::desk::{BatchTx, Desk};
use crate::sql::tx::Work;
use app::{Error, Result};
use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::BoxFuture;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// What becomes of a command.
pub(in super::super) enum Answer<W: Work> {
    Done(Result<W::Output>),
    /// It does not get along with others: to be run in a transaction of its own.
    Alone(W),
}

pub(in super::super) trait Command: Send {
    /// Runs it as number `who` of a batch and keeps the result.
    fn run(&mut self, desk: Arc<Desk>, who: usize) -> BoxFuture<'_, ()>;

    /// What the kept result means for the batch.
    fn outcome(&self) -> Outcome;

    /// Tells the asker the kept result: the batch is on disk.
    fn answer(self: Box<Self>);

    /// Tells the asker that the engine is away.
    fn fail(self: Box<Self>, why: String);

    /// Gives it back to its asker.
    fn send_away(self: Box<Self>);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Outcome {
    Done,
    /// Refused by a rule, as it would be alone.
    Refused,
    /// It met another command, or a fault: alone it may go otherwise.
    Disturbed,
}

pub(in super::super) struct Pending<W: Work> {
    work: W,
    result: Option<Result<W::Output>>,
    send: oneshot::Sender<Answer<W>>,
}

impl<W: Work> Pending<W> {
    pub(in super::super) fn boxed(work: W, send: oneshot::Sender<Answer<W>>) -> Box<dyn Command> {
        Box::new(Pending { work, result: None, send })
    }
}

impl<W: Work> Command for Pending<W> {
    fn run(&mut self, desk: Arc<Desk>, who: usize) -> BoxFuture<'_, ()> {
        async move {
            let mut tx = BatchTx { desk, who };
            // A panic is a bug of that command, not the end of its neighbours.
            let run = AssertUnwindSafe(self.work.run(&mut tx)).catch_unwind().await;
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
        // The asker may have gone; the work is done all the same.
        let _ = self.send.send(Answer::Done(result));
    }

    fn fail(self: Box<Self>, why: String) {
        let _ = self.send.send(Answer::Done(Err(Error::Unavailable(why))));
    }

    fn send_away(self: Box<Self>) {
        let _ = self.send.send(Answer::Alone(self.work));
    }
}
