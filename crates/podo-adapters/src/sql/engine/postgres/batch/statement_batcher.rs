//! Collects the database requests of a batch's commands, and delivers the answers.

use crate::sql::engine::postgres::batch::send::Found;
use crate::sql::engine::tx::{SqlError, StoreContext, Tx};
use crate::sql::engine::value::{Row, Value};
use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::BoxFuture;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

/// One parameter set of one command's statement.
pub(crate) struct QueuedStatement {
    pub(crate) who: usize,
    pub(crate) sql: &'static str,
    pub(crate) params: Vec<Value>,
    pub(crate) answer: To,
}

impl QueuedStatement {
    pub(crate) fn has_asker(&self) -> bool {
        !matches!(self.answer, To::Discard)
    }
}

/// Who needs the result of a statement.
pub(crate) enum To {
    Asker(oneshot::Sender<Found>),
    /// No command, as long as exactly one row changes.
    OneChange,
    Discard,
}

#[derive(Default)]
struct State {
    /// Statements whose results aren't awaited.
    unasked: Vec<QueuedStatement>,
    asks: Vec<QueuedStatement>,
    locks: HashMap<Uuid, Lock>,
    /// Locks that no command of the batch has yet: the database must grant them.
    new_locks: Vec<Uuid>,
    /// Commands that have changed something.
    changers: Vec<bool>,
    /// Commands that found a row other than they had read it.
    conflicted: Vec<bool>,
}

/// A lock of one command, with the other commands of the batch that wait for it.
struct Lock {
    owner: usize,
    waiting: VecDeque<(usize, oneshot::Sender<()>)>,
}

pub(crate) struct StatementBatcher {
    state: Mutex<State>,
    context: Arc<StoreContext>,
}

/// What a round sends.
pub(crate) struct Round {
    /// Taken first: a command that has its lock continues at once, and its statements come after.
    pub(crate) locks: Vec<Uuid>,
    /// Sent before the queries, because a query must see the earlier changes of its own command and
    /// of the lock's previous holder.
    pub(crate) unasked: Vec<QueuedStatement>,
    pub(crate) asks: Vec<QueuedStatement>,
}

impl Round {
    pub(crate) fn is_empty(&self) -> bool {
        self.unasked.is_empty() && self.asks.is_empty() && self.locks.is_empty()
    }
}

impl StatementBatcher {
    pub(crate) fn new(n_commands: usize, context: Arc<StoreContext>) -> StatementBatcher {
        let (changers, conflicted) = (vec![false; n_commands], vec![false; n_commands]);
        let state = State { changers, conflicted, ..State::default() };
        StatementBatcher { state: Mutex::new(state), context }
    }

    /// Everything handed in since the last round.
    pub(crate) fn take(&self) -> Round {
        let mut state = self.state();
        Round {
            locks: std::mem::take(&mut state.new_locks),
            unasked: std::mem::take(&mut state.unasked),
            asks: std::mem::take(&mut state.asks),
        }
    }

    pub(crate) fn answer(&self, ask: QueuedStatement, found: Found) {
        let mut state = self.state();
        if found.n_changed > 0 {
            state.changers[ask.who] = true;
        }
        match ask.answer {
            To::Asker(asker) => {
                // A dropped command needs no answer.
                let _ = asker.send(found);
            }
            To::OneChange => state.conflicted[ask.who] |= found.n_changed != 1,
            To::Discard => {}
        }
    }

    pub(crate) fn has_changed(&self, who: usize) -> bool {
        self.state().changers[who]
    }

    /// Whether a concurrent command changed the row first.
    pub(crate) fn has_conflict(&self, who: usize) -> bool {
        self.state().conflicted[who]
    }

    /// A command has finished: passes its locks on.
    pub(crate) fn leave(&self, who: usize) {
        let mut state = self.state();
        for lock in state.locks.values_mut().filter(|lock| lock.owner == who) {
            if let Some((next, send)) = lock.waiting.pop_front() {
                lock.owner = next;
                let _ = send.send(());
            }
        }
    }

    /// The signal to wait for, if another command of the batch has the lock.
    fn lock(&self, who: usize, what: Uuid) -> Option<oneshot::Receiver<()>> {
        let mut state = self.state();
        match state.locks.get_mut(&what) {
            Some(lock) if lock.owner == who => None,
            Some(lock) => {
                let (send, receive) = oneshot::channel();
                lock.waiting.push_back((who, send));
                Some(receive)
            }
            None => {
                state.locks.insert(what, Lock { owner: who, waiting: VecDeque::new() });
                state.new_locks.push(what);
                None
            }
        }
    }

    /// No code panics while it holds the state, so the state is consistent even if poisoned.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The transaction as one command of a batch sees it.
pub(crate) struct BatchTx {
    pub(crate) batcher: Arc<StatementBatcher>,
    pub(crate) who: usize,
}

impl BatchTx {
    fn ask(&self, sql: &'static str, params: Vec<Value>) -> oneshot::Receiver<Found> {
        let (send, receive) = oneshot::channel();
        let answer = To::Asker(send);
        self.batcher.state().asks.push(QueuedStatement { who: self.who, sql, params, answer });
        receive
    }

    /// Queues statements to run before the next awaited answer.
    fn leave(&self, sql: &'static str, sets: Vec<Vec<Value>>, answer: impl Fn() -> To) {
        let ask = |params| QueuedStatement { who: self.who, sql, params, answer: answer() };
        self.batcher.state().unasked.extend(sets.into_iter().map(ask));
    }

    /// Sends a request with each set. Returns each result, in order.
    fn ask_each(
        &self,
        sql: &'static str,
        sets: Vec<Vec<Value>>,
    ) -> impl Future<Output = Result<Vec<Found>, SqlError>> + use<> {
        let answers: Vec<_> = sets.into_iter().map(|set| self.ask(sql, set)).collect();
        async { futures::future::try_join_all(answers).await.map_err(undone) }
    }
}

/// The batch was rolled back; its commands run again elsewhere.
fn undone(_: oneshot::Canceled) -> SqlError {
    SqlError::Conflict("the batch was rolled back".into())
}

impl Tx for BatchTx {
    fn execute<'t>(
        &'t mut self,
        sql: &'static str,
        params: &'t [Value],
    ) -> BoxFuture<'t, Result<u64, SqlError>> {
        let answer = self.ask(sql, params.to_vec());
        async move { Ok(answer.await.map_err(undone)?.n_changed) }.boxed()
    }

    fn query<'t>(
        &'t mut self,
        sql: &'static str,
        params: &'t [Value],
    ) -> BoxFuture<'t, Result<Vec<Row>, SqlError>> {
        let answer = self.ask(sql, params.to_vec());
        async move { Ok(answer.await.map_err(undone)?.rows) }.boxed()
    }

    fn query_each<'t>(
        &'t mut self,
        sql: &'static str,
        sets: Vec<Vec<Value>>,
    ) -> BoxFuture<'t, Result<Vec<Vec<Row>>, SqlError>> {
        let found = self.ask_each(sql, sets);
        async { Ok(found.await?.into_iter().map(|found| found.rows).collect()) }.boxed()
    }

    fn execute_each<'t>(
        &'t mut self,
        sql: &'static str,
        sets: Vec<Vec<Value>>,
    ) -> BoxFuture<'t, Result<Vec<u64>, SqlError>> {
        let found = self.ask_each(sql, sets);
        async { Ok(found.await?.into_iter().map(|found| found.n_changed).collect()) }.boxed()
    }

    fn add<'t>(
        &'t mut self,
        sql: &'static str,
        sets: Vec<Vec<Value>>,
    ) -> BoxFuture<'t, Result<(), SqlError>> {
        self.leave(sql, sets, || To::Discard);
        futures::future::ready(Ok(())).boxed()
    }

    fn change<'t>(
        &'t mut self,
        sql: &'static str,
        sets: Vec<Vec<Value>>,
    ) -> BoxFuture<'t, Result<(), SqlError>> {
        self.leave(sql, sets, || To::OneChange);
        futures::future::ready(Ok(())).boxed()
    }

    fn lock<'t>(&'t mut self, what: Uuid) -> BoxFuture<'t, Result<(), SqlError>> {
        let turn = self.batcher.lock(self.who, what);
        async move {
            match turn {
                Some(turn) => turn.await.map_err(undone),
                None => Ok(()),
            }
        }
        .boxed()
    }

    fn context(&self) -> &StoreContext {
        &self.batcher.context
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podo_app::operations::port::clock::Rng;

    /// These tests never use it.
    struct NoRng;

    impl Rng for NoRng {
        fn fill(&self, _: &mut [u8]) {}
    }

    fn batcher() -> Arc<StatementBatcher> {
        Arc::new(StatementBatcher::new(2, Arc::new(StoreContext::new(Arc::new(NoRng)))))
    }

    fn tx(batcher: &Arc<StatementBatcher>, who: usize) -> BatchTx {
        BatchTx { batcher: batcher.clone(), who }
    }

    /// One command changes a row, and the server reports this count.
    fn changed(n_changed: u64) -> Arc<StatementBatcher> {
        let batcher = batcher();
        let left = tx(&batcher, 1).change("update", vec![vec![Value::Int(1)]]).now_or_never();
        left.expect("the statement isn't awaited").unwrap();
        let [ask] = batcher.take().unasked.try_into().ok().expect("one set");
        batcher.answer(ask, Found { n_changed, rows: Vec::new() });
        batcher
    }

    #[test]
    fn a_command_that_does_not_change_exactly_one_row_conflicts() {
        for (n_changed, has_conflict) in [(0, true), (1, false), (2, true)] {
            let batcher = changed(n_changed);
            assert_eq!(batcher.has_conflict(1), has_conflict, "{n_changed} rows");
            assert_eq!(batcher.has_changed(1), n_changed > 0, "{n_changed} rows");
            assert!(
                !batcher.has_conflict(0) && !batcher.has_changed(0),
                "the other command did nothing"
            );
        }
    }

    #[test]
    fn a_lock_is_taken_on_the_way_and_the_next_waits_until_its_owner_leaves() {
        let (batcher, what) = (batcher(), Uuid::from_u128(7));
        let (mut first, mut second) = (tx(&batcher, 0), tx(&batcher, 1));
        assert!(first.lock(what).now_or_never().is_some(), "it continues at once");
        let mut turn = second.lock(what);
        assert!((&mut turn).now_or_never().is_none(), "the lock is taken");
        assert_eq!(batcher.take().locks, [what], "the server gets one request");
        batcher.leave(0);
        assert!(turn.now_or_never().is_some());
    }
}
