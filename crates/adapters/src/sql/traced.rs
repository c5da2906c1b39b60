//! A command with the trace that asked for it: the messages that it writes keep it.

use super::database_role::DatabaseRole;
use super::tx::{Tx, Work};
use app::traces::{TraceParent, current, within};
use futures::future::BoxFuture;

pub(super) struct Traced<W> {
    work: W,
    trace: Option<TraceParent>,
}

impl<W: Work> Traced<W> {
    pub(super) fn new(work: W) -> Traced<W> {
        Traced { work, trace: current() }
    }
}

impl<W: Work> Work for Traced<W> {
    type Output = W::Output;

    const ROLE: DatabaseRole = W::ROLE;
    const REPLICAS_MAY_ANSWER: bool = W::REPLICAS_MAY_ANSWER;

    /// Engines run commands on threads of their own, so the trace is set anew around each step.
    fn run<'t>(&'t self, tx: &'t mut dyn Tx) -> BoxFuture<'t, app::Result<W::Output>> {
        match self.trace {
            None => self.work.run(tx),
            Some(trace) => Box::pin(within(trace, self.work.run(tx))),
        }
    }
}
