//! A command that waits for the writer: it can be run more than once, and is answered once.

use super::super::connection::SqliteTx;
use crate::sql::tx::{Tx, Work};
use app::{Error, Result};
use futures::FutureExt;
use futures::channel::oneshot;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(in super::super) trait Command: Send {
    /// Runs it in the open transaction and keeps the result, in place of an earlier one. False
    /// when it was refused or failed.
    fn run(&mut self, tx: &mut SqliteTx<'_>) -> bool;

    /// Keeps a failure of the engine as the result.
    fn fail(&mut self, why: String);

    /// Tells the asker, now that it is known whether the transaction is on disk.
    fn answer(self: Box<Self>, committed: &std::result::Result<(), String>);
}

pub(super) struct Pending<W: Work> {
    work: W,
    result: Option<Result<W::Output>>,
    send: oneshot::Sender<Result<W::Output>>,
}

impl<W: Work> Pending<W> {
    pub(super) fn boxed(work: W, send: oneshot::Sender<Result<W::Output>>) -> Box<dyn Command> {
        Box::new(Pending { work, result: None, send })
    }
}

impl<W: Work> Command for Pending<W> {
    fn run(&mut self, tx: &mut SqliteTx<'_>) -> bool {
        let result = run_now(tx, &self.work);
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
            // A refusal may rest on what a neighbour did and lost: nobody is told anything else.
            (Err(why), _) => Err(Error::Unavailable(why.clone())),
        };
        // The asker may have gone; the work is done all the same.
        let _ = self.send.send(answer);
    }
}

/// SQLite's futures are ready at once, so one poll runs the whole command. A panic is a bug of
/// that command, not the end of the writer.
pub(in super::super) fn run_now<W: Work>(tx: &mut dyn Tx, work: &W) -> Result<W::Output> {
    let run = AssertUnwindSafe(|| work.run(tx).now_or_never());
    match catch_unwind(run) {
        Ok(Some(result)) => result,
        Ok(None) => Err(Error::Broken("a command waited for something but the database".into())),
        Err(_) => Err(Error::Broken("a command panicked".into())),
    }
}
