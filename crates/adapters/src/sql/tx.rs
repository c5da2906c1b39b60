//! One transaction, whatever the engine: SQL text with `$1` parameters in, counts and rows out.

use super::database_role::DatabaseRole;
use super::value::{Row, Value};
use app::Error;
use app::ports::clock::Chance;
use futures::future::BoxFuture;
use uuid::Uuid;

/// What the engines can complain about, by what the caller may do.
#[derive(Debug)]
pub enum SqlError {
    /// A named constraint said no.
    Constraint(String),
    /// Another command was faster.
    Conflict(String),
    /// Try again: the engine is busy, gone or full.
    Unavailable(String),
    Broken(String),
}

impl SqlError {
    pub fn is_constraint(&self, name: &str) -> bool {
        matches!(self, SqlError::Constraint(broken) if broken == name)
    }
}

impl From<SqlError> for Error {
    fn from(error: SqlError) -> Error {
        match error {
            // Nobody expected it here, so it was set by somebody who came in between.
            SqlError::Constraint(name) => Error::Conflict(format!("constraint {name}")),
            SqlError::Conflict(what) => Error::Conflict(what),
            SqlError::Unavailable(what) => Error::Unavailable(what),
            SqlError::Broken(what) => Error::Broken(what),
        }
    }
}

/// Guards that tests switch off, to show that the damage they prevent is real. In a build
/// without the feature `mutants` all of them are always on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// A seat is claimed only by comparing its state.
    SeatIsCompared,
    /// The unique index over active claims.
    OneClaimPerSeat,
    /// A replica answers only when it knows what the primary knows.
    ReplicaIsProven,
    /// What a node does that does not lead any more is refused.
    Fence,
    /// The sweeper passes by seats that are being paid for.
    SweepSparesPaying,
    /// A fan has no more seats of a schedule than allowed.
    SeatLimit,
    /// Seats are held only while they are on sale.
    SaleWindow,
    /// The entry is checked inside the hold's transaction.
    EntryIsChecked,
    /// A key's answer is found, and stored with its effect.
    KeyIsRemembered,
    /// A change has its message in the same transaction.
    MessageIsWritten,
    /// A change has its row in the history.
    HistoryIsWritten,
    /// A movement of a wallet has its rows in the ledger.
    LedgerIsWritten,
    /// What was charged for nothing is put on the list of refunds.
    RefundIsOwed,
    /// A reservation that ends lets go of its seats.
    SeatsAreFreed,
    /// What was paid for becomes tickets.
    TicketsAreMade,
}

/// A running transaction. SQLite's futures are ready at once; PostgreSQL's wait for the network.
pub(super) trait Tx: Send {
    /// Runs a statement and says how many rows it changed.
    fn execute<'t>(
        &'t mut self,
        sql: &'static str,
        params: &'t [Value],
    ) -> BoxFuture<'t, Result<u64, SqlError>>;

    fn query<'t>(
        &'t mut self,
        sql: &'static str,
        params: &'t [Value],
    ) -> BoxFuture<'t, Result<Vec<Row>, SqlError>>;

    /// Asks the same with each set of parameters; the rows of each, in order.
    fn query_each<'t>(
        &'t mut self,
        sql: &'static str,
        sets: Vec<Vec<Value>>,
    ) -> BoxFuture<'t, Result<Vec<Vec<Row>>, SqlError>> {
        Box::pin(async move {
            let mut found = Vec::with_capacity(sets.len());
            for set in &sets {
                found.push(self.query(sql, set).await?);
            }
            Ok(found)
        })
    }

    /// Runs the statement with each set of parameters; how many rows each of them changed.
    fn execute_each<'t>(
        &'t mut self,
        sql: &'static str,
        sets: Vec<Vec<Value>>,
    ) -> BoxFuture<'t, Result<Vec<u64>, SqlError>> {
        Box::pin(async move {
            let mut changed = Vec::with_capacity(sets.len());
            for set in &sets {
                changed.push(self.execute(sql, set).await?);
            }
            Ok(changed)
        })
    }

    /// Adds or changes rows whose number nobody asks for: an engine may send it along with what
    /// comes next. What it complains about then fails the whole command.
    fn add<'t>(
        &'t mut self,
        sql: &'static str,
        sets: Vec<Vec<Value>>,
    ) -> BoxFuture<'t, Result<(), SqlError>> {
        Box::pin(async move { self.execute_each(sql, sets).await.map(drop) })
    }

    /// Changes one row with each set of parameters. If one is not there any more as it was when the
    /// command looked, another command was faster, and this one fails: here, or when an engine that
    /// sends it along with what comes next finds out.
    fn change<'t>(
        &'t mut self,
        sql: &'static str,
        sets: Vec<Vec<Value>>,
    ) -> BoxFuture<'t, Result<(), SqlError>> {
        Box::pin(async move {
            let changed = self.execute_each(sql, sets).await?;
            match changed.iter().all(|n_changed| *n_changed == 1) {
                true => Ok(()),
                false => Err(SqlError::Conflict(format!("another command was faster than: {sql}"))),
            }
        })
    }

    /// Makes others who lock the same thing wait until this transaction ends. An engine that runs
    /// one command at a time has nothing to do.
    fn lock<'t>(&'t mut self, _what: Uuid) -> BoxFuture<'t, Result<(), SqlError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Makes the engine follow indexes for the rest of the transaction, whatever it believes about
    /// a table that has changed much since it last looked.
    fn follow_indexes(&mut self) -> BoxFuture<'_, Result<(), SqlError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Lets the rest of the transaction take minutes: it looks at everything there is.
    fn take_time(&mut self) -> BoxFuture<'_, Result<(), SqlError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Where ids and secrets made inside a transaction come from.
    fn chance(&self) -> &dyn Chance;

    fn has(&self, _guard: Guard) -> bool {
        true
    }
}

impl dyn Tx + '_ {
    /// The first row, if there is one.
    pub(super) async fn row(
        &mut self,
        sql: &'static str,
        params: &[Value],
    ) -> Result<Option<Row>, SqlError> {
        Ok(self.query(sql, params).await?.into_iter().next())
    }
}

/// One command or question: it runs inside one transaction, from its first statement to its last.
/// A refusal or an error undoes all of it. An engine may run it again after a conflict.
pub(super) trait Work: Send + Sync + 'static {
    type Output: Send + 'static;

    /// As whom it talks to the database.
    const ROLE: DatabaseRole;

    /// Whether nothing is decided by its answer, so that a replica may give it.
    const REPLICAS_MAY_ANSWER: bool;

    fn run<'t>(&'t self, tx: &'t mut dyn Tx) -> BoxFuture<'t, app::Result<Self::Output>>;
}

/// Declares that a command is run by an async function over a transaction, and in which role; a
/// list or a view `or_replica`.
macro_rules! work {
    ($role:ident: $command:ty => $function:path, $output:ty) => {
        $crate::sql::tx::work!($role, false: $command => $function, $output);
    };
    ($role:ident or_replica: $command:ty => $function:path, $output:ty) => {
        $crate::sql::tx::work!($role, true: $command => $function, $output);
    };
    ($role:ident, $replicas:literal: $command:ty => $function:path, $output:ty) => {
        impl $crate::sql::tx::Work for $command {
            type Output = $output;

            const ROLE: $crate::sql::DatabaseRole = $crate::sql::DatabaseRole::$role;
            const REPLICAS_MAY_ANSWER: bool = $replicas;

            fn run<'t>(
                &'t self,
                tx: &'t mut dyn $crate::sql::tx::Tx,
            ) -> futures::future::BoxFuture<'t, app::Result<$output>> {
                Box::pin($function(tx, self))
            }
        }
    };
}

pub(super) use work;
