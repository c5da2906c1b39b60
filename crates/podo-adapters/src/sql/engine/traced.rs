//! A command with the trace of its caller, which the messages that it writes carry on.

use crate::sql::engine::database_role::DatabaseRole;
use crate::sql::engine::tx::{Command, Tx};
use futures::future::BoxFuture;
use podo_app::operations::traces::{TraceParent, current, within};

pub(crate) struct Traced<W> {
    command: W,
    trace: Option<TraceParent>,
}

impl<W: Command> Traced<W> {
    pub(crate) fn new(command: W) -> Traced<W> {
        Traced { command, trace: current() }
    }
}

impl<W: Command> Command for Traced<W> {
    type Output = W::Output;

    const ROLE: DatabaseRole = W::ROLE;
    const REPLICAS_MAY_ANSWER: bool = W::REPLICAS_MAY_ANSWER;

    /// Engines run commands on their own threads, so each step sets the trace again.
    fn run<'t>(&'t self, tx: &'t mut dyn Tx) -> BoxFuture<'t, podo_app::Result<W::Output>> {
        match self.trace {
            None => self.command.run(tx),
            Some(trace) => Box::pin(within(trace, self.command.run(tx))),
        }
    }
}
