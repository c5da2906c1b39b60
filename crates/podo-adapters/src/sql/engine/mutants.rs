//! Removes single guards from the product, so that a test can show what they prevent. Only in
//! builds with the feature `mutants`: the shipped program has no way to run without a guard.
//!
//! A mutant wraps the transaction of every command and rewrites or skips the statements that
//! contain a guard. The product's code knows nothing of it.

use crate::sql::engine::database_role::DatabaseRole;
use crate::sql::engine::tx::{Command, SqlError, StoreContext, Tx};
use crate::sql::engine::value::{Row, Value};
use futures::future::{BoxFuture, ready};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use uuid::Uuid;

/// A guard of the store that race tests remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// A claim on a seat compares the seat's state.
    SeatIsCompared,
    /// The unique index over active claims.
    OneClaimPerSeat,
    /// A replica answers only if it has replayed everything the primary had committed.
    ReplicaIsProven,
    /// Refuses writes of a node that has lost its lease.
    Fence,
    /// Each use of a phase's code counts.
    CodeUseIsCounted,
    /// A move to another seat compares the state and the code of the ticket.
    TicketIsCompared,
    /// A hold counts the seats that the fan has already.
    SeatsOfFanAreCounted,
    /// A hold looks up whether the fan is eligible for its phase.
    EligibilityIsChecked,
    /// An offer of a draw counts its seats against the quantity of the grade.
    DrawQuantityIsCounted,
    /// An offer of a draw compares the application with the others of its grade.
    DrawOrderIsCompared,
    /// An application takes its index only while the window is open.
    DrawWindowIsCompared,
}

impl Guard {
    /// The edits that remove it. The index and the proof aren't statements of a command; the
    /// engines take them away when they open.
    pub fn edits(self) -> Vec<Edit> {
        match self {
            Guard::SeatIsCompared => vec![
                Edit::Replace {
                    from: "seat_index = $2 and state = 'FREE'",
                    to: "seat_index = $2 and (state = 'FREE' or state <> 'FREE')",
                },
                Edit::Replace {
                    from: "(expires_at is null or expires_at <= $5)",
                    to: "(expires_at is null or expires_at is not null or expires_at <= $5)",
                },
            ],
            Guard::Fence => vec![Edit::Replace {
                from: "set held_until = held_until
                where job = $1 and holder = $2 and fence = $3",
                to: "set held_until = held_until
                where job = $1 and (holder = $2 or holder <> $2) and (fence = $3 or fence <> $3)",
            }],
            Guard::CodeUseIsCounted => {
                vec![Edit::Replace { from: "n_used = n_used + 1", to: "n_used = n_used + 0" }]
            }
            Guard::TicketIsCompared => vec![Edit::ReplaceIn {
                command: "ReseatBooking",
                from: "where id = $1 and code = $2 and status = 'VALID'",
                to: "where id = $1 and (code = $2 or code <> $2)",
            }],
            Guard::SeatsOfFanAreCounted => vec![Edit::ReplaceIn {
                command: "HoldSeats",
                from: "and user_id = $2 and channel = 'FAN'",
                to: "and user_id = $2 and channel = 'NOBODY'",
            }],
            Guard::EligibilityIsChecked => vec![Edit::ReplaceIn {
                command: "HoldSeats",
                from: "from phase_eligibilities where phase_id = $1 and user_id = $2",
                to: "from sale_phases where id = $1 and draw_seed is not null or id = $2",
            }],
            Guard::DrawQuantityIsCounted => {
                vec![Edit::Replace { from: "n_out = n_out + $3", to: "n_out = n_out + 0 * $3" }]
            }
            Guard::DrawOrderIsCompared => vec![Edit::Replace {
                from: "and e.place < draw_applications.place",
                to: "and e.place < 0",
            }],
            Guard::DrawWindowIsCompared => vec![
                Edit::ReplaceIn {
                    command: "Apply",
                    from: "where phase_id = $1 and closed_at is null",
                    to: "where phase_id = $1 and (closed_at is null or closed_at is not null)",
                },
                Edit::ReplaceIn {
                    command: "Apply",
                    from: "d.n_applied, d.closed_at,",
                    to: "d.n_applied, null as closed_at,",
                },
            ],
            Guard::OneClaimPerSeat | Guard::ReplicaIsProven => Vec::new(),
        }
    }
}

/// Removes the last line of defence against a seat that is sold twice.
pub(crate) const DROP_ONE_CLAIM_PER_SEAT: &str = "drop index if exists reservation_seats_one_claim";

/// A change to the product's statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Replaces `from` with `to` in every statement that contains it.
    Replace { from: &'static str, to: &'static str },
    /// Does so in the statements of one command.
    ReplaceIn { command: &'static str, from: &'static str, to: &'static str },
    /// Doesn't run the statements that contain this text.
    Skip(&'static str),
}

/// A command whose statements are edited.
pub(crate) struct Mutant<W> {
    command: W,
    edits: Arc<[Edit]>,
}

impl<W: Command> Mutant<W> {
    pub(crate) fn of(command: W, edits: &Arc<[Edit]>) -> Mutant<W> {
        Mutant { command, edits: edits.clone() }
    }
}

impl<W: Command> Command for Mutant<W> {
    type Output = W::Output;

    const ROLE: DatabaseRole = W::ROLE;
    const REPLICAS_MAY_ANSWER: bool = W::REPLICAS_MAY_ANSWER;

    fn run<'t>(&'t self, tx: &'t mut dyn Tx) -> BoxFuture<'t, podo_app::Result<W::Output>> {
        if self.edits.is_empty() {
            return self.command.run(tx);
        }
        Box::pin(async move {
            let name = std::any::type_name::<W>();
            self.command.run(&mut EditedTx { tx, edits: &self.edits, name }).await
        })
    }
}

struct EditedTx<'t> {
    tx: &'t mut dyn Tx,
    edits: &'t [Edit],
    /// The command that runs.
    name: &'static str,
}

impl EditedTx<'_> {
    /// The statement to run instead; none if it is to be skipped.
    fn edited(&self, sql: &'static str) -> Option<&'static str> {
        self.edits.iter().try_fold(sql, |sql, edit| match *edit {
            Edit::Replace { from, to } => Some(replaced(sql, from, to)),
            Edit::ReplaceIn { command, from, to } if self.is_running(command) => {
                Some(replaced(sql, from, to))
            }
            Edit::ReplaceIn { .. } => Some(sql),
            Edit::Skip(text) => (!sql.contains(text)).then_some(sql),
        })
    }

    fn is_running(&self, command: &str) -> bool {
        self.name.trim_end_matches('>').ends_with(&format!("::{command}"))
    }
}

/// Engines find statements by their address, so each edited one is created once and kept.
fn replaced(sql: &'static str, from: &'static str, to: &'static str) -> &'static str {
    type EditedStatements = HashMap<(&'static str, &'static str), &'static str>;
    static KEPT: Mutex<Option<EditedStatements>> = Mutex::new(None);
    if !sql.contains(from) {
        return sql;
    }
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = kept.get_or_insert_with(HashMap::new);
    kept.entry((sql, to)).or_insert_with(|| sql.replace(from, to).leak())
}

impl Tx for EditedTx<'_> {
    fn execute<'t>(
        &'t mut self,
        sql: &'static str,
        params: &'t [Value],
    ) -> BoxFuture<'t, Result<u64, SqlError>> {
        match self.edited(sql) {
            Some(sql) => self.tx.execute(sql, params),
            None => Box::pin(ready(Ok(1))),
        }
    }

    fn query<'t>(
        &'t mut self,
        sql: &'static str,
        params: &'t [Value],
    ) -> BoxFuture<'t, Result<Vec<Row>, SqlError>> {
        match self.edited(sql) {
            Some(sql) => self.tx.query(sql, params),
            None => Box::pin(ready(Ok(Vec::new()))),
        }
    }

    fn query_each<'t>(
        &'t mut self,
        sql: &'static str,
        sets: Vec<Vec<Value>>,
    ) -> BoxFuture<'t, Result<Vec<Vec<Row>>, SqlError>> {
        match self.edited(sql) {
            Some(sql) => self.tx.query_each(sql, sets),
            None => Box::pin(ready(Ok(sets.iter().map(|_| Vec::new()).collect()))),
        }
    }

    fn execute_each<'t>(
        &'t mut self,
        sql: &'static str,
        sets: Vec<Vec<Value>>,
    ) -> BoxFuture<'t, Result<Vec<u64>, SqlError>> {
        match self.edited(sql) {
            Some(sql) => self.tx.execute_each(sql, sets),
            None => Box::pin(ready(Ok(vec![1; sets.len()]))),
        }
    }

    fn add<'t>(
        &'t mut self,
        sql: &'static str,
        sets: Vec<Vec<Value>>,
    ) -> BoxFuture<'t, Result<(), SqlError>> {
        match self.edited(sql) {
            Some(sql) => self.tx.add(sql, sets),
            None => Box::pin(ready(Ok(()))),
        }
    }

    fn change<'t>(
        &'t mut self,
        sql: &'static str,
        sets: Vec<Vec<Value>>,
    ) -> BoxFuture<'t, Result<(), SqlError>> {
        match self.edited(sql) {
            Some(sql) => self.tx.change(sql, sets),
            None => Box::pin(ready(Ok(()))),
        }
    }

    fn lock<'t>(&'t mut self, what: Uuid) -> BoxFuture<'t, Result<(), SqlError>> {
        self.tx.lock(what)
    }

    fn follow_indexes(&mut self) -> BoxFuture<'_, Result<(), SqlError>> {
        self.tx.follow_indexes()
    }

    fn take_time(&mut self) -> BoxFuture<'_, Result<(), SqlError>> {
        self.tx.take_time()
    }

    fn context(&self) -> &StoreContext {
        self.tx.context()
    }
}
