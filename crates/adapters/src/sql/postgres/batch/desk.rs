//! Where the commands of a batch hand in what they ask the database, and wait for the answers.

use crate::sql::postgres::send::Found;
use crate::sql::tx::{Guard, SqlError, Tx};
use crate::sql::value::{Row, Value};
use app::ports::clock::Chance;
use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::BoxFuture;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

/// One parameter set of one command's statement.
pub(super) struct Ask {
    pub(super) who: usize,
    pub(super) sql: &'static str,
    pub(super) params: Vec<Value>,
    pub(super) answer: To,
}

impl Ask {
    pub(super) fn is_asked(&self) -> bool {
        !matches!(self.answer, To::Nobody)
    }
}

/// Who wants to know what a statement found.
pub(super) enum To {
    Asker(oneshot::Sender<Found>),
    /// Nobody, unless it is anything but one changed row.
    OneChange,
    Nobody,
}

#[derive(Default)]
struct State {
    /// What is to be done while nobody waits for an answer.
    unasked: Vec<Ask>,
    asks: Vec<Ask>,
    locks: HashMap<Uuid, Lock>,
    /// Locks that nobody of the batch had before: the database must give them.
    new_locks: Vec<Uuid>,
    /// Commands that have changed something.
    changers: Vec<bool>,
    /// Commands that did not find a row as they had seen it.
    outrun: Vec<bool>,
}

/// A lock of one command; others of the batch wait in line for it.
struct Lock {
    owner: usize,
    waiting: VecDeque<(usize, oneshot::Sender<()>)>,
}

pub(in super::super) struct Desk {
    state: Mutex<State>,
    chance: Arc<dyn Chance>,
    off: Arc<[Guard]>,
}

/// What a round has to send.
pub(super) struct Round {
    /// To be taken first: whoever has one of them goes on at once, and all that they do comes after.
    pub(super) locks: Vec<Uuid>,
    /// To be sent before the asks: whoever asks comes after what was done, by themselves or by
    /// the one who had the lock before.
    pub(super) unasked: Vec<Ask>,
    pub(super) asks: Vec<Ask>,
}

impl Round {
    pub(super) fn is_empty(&self) -> bool {
        self.unasked.is_empty() && self.asks.is_empty() && self.locks.is_empty()
    }
}

impl Desk {
    pub(super) fn new(n_commands: usize, chance: Arc<dyn Chance>, off: Arc<[Guard]>) -> Desk {
        let (changers, outrun) = (vec![false; n_commands], vec![false; n_commands]);
        let state = State { changers, outrun, ..State::default() };
        Desk { state: Mutex::new(state), chance, off }
    }

    /// Everything that was handed in since the last round.
    pub(super) fn take(&self) -> Round {
        let mut state = self.state();
        Round {
            locks: std::mem::take(&mut state.new_locks),
            unasked: std::mem::take(&mut state.unasked),
            asks: std::mem::take(&mut state.asks),
        }
    }

    pub(super) fn answer(&self, ask: Ask, found: Found) {
        let mut state = self.state();
        if found.n_changed > 0 {
            state.changers[ask.who] = true;
        }
        match ask.answer {
            To::Asker(asker) => {
                // One that is gone needs no answer.
                let _ = asker.send(found);
            }
            To::OneChange => state.outrun[ask.who] |= found.n_changed != 1,
            To::Nobody => {}
        }
    }

    pub(super) fn has_changed(&self, who: usize) -> bool {
        self.state().changers[who]
    }

    /// Whether another command was faster.
    pub(super) fn was_outrun(&self, who: usize) -> bool {
        self.state().outrun[who]
    }

    /// A command is over: its locks go to those who wait for them.
    pub(super) fn leave(&self, who: usize) {
        let mut state = self.state();
        for lock in state.locks.values_mut().filter(|lock| lock.owner == who) {
            if let Some((next, send)) = lock.waiting.pop_front() {
                lock.owner = next;
                let _ = send.send(());
            }
        }
    }

    /// A turn to wait for, if another command of the batch has the lock.
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

    /// Nothing panics while it holds the state, so it is whole even if something did.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The transaction as one command of a batch sees it.
pub(super) struct BatchTx {
    pub(super) desk: Arc<Desk>,
    pub(super) who: usize,
}

impl BatchTx {
    fn ask(&self, sql: &'static str, params: Vec<Value>) -> oneshot::Receiver<Found> {
        let (send, receive) = oneshot::channel();
        let answer = To::Asker(send);
        self.desk.state().asks.push(Ask { who: self.who, sql, params, answer });
        receive
    }

    /// Leaves something to be done before the next answer that anybody waits for.
    fn leave(&self, sql: &'static str, sets: Vec<Vec<Value>>, answer: impl Fn() -> To) {
        let ask = |params| Ask { who: self.who, sql, params, answer: answer() };
        self.desk.state().unasked.extend(sets.into_iter().map(ask));
    }

    /// Asks with each set; what each of them found, in order.
    fn ask_each(
        &self,
        sql: &'static str,
        sets: Vec<Vec<Value>>,
    ) -> impl Future<Output = Result<Vec<Found>, SqlError>> + use<> {
        let answers: Vec<_> = sets.into_iter().map(|set| self.ask(sql, set)).collect();
        async { futures::future::try_join_all(answers).await.map_err(undone) }
    }
}

/// The batch was undone; its commands are run again elsewhere.
fn undone(_: oneshot::Canceled) -> SqlError {
    SqlError::Conflict("the batch was undone".into())
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
        self.leave(sql, sets, || To::Nobody);
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
        let turn = self.desk.lock(self.who, what);
        async move {
            match turn {
                Some(turn) => turn.await.map_err(undone),
                None => Ok(()),
            }
        }
        .boxed()
    }

    fn chance(&self) -> &dyn Chance {
        &*self.desk.chance
    }

    fn has(&self, guard: Guard) -> bool {
        !self.desk.off.contains(&guard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use app::ports::clock::Chance;

    /// Nobody asks it for anything here.
    struct NoChance;

    impl Chance for NoChance {
        fn fill(&self, _: &mut [u8]) {}
    }

    fn desk() -> Arc<Desk> {
        Arc::new(Desk::new(2, Arc::new(NoChance), Arc::new([])))
    }

    fn tx(desk: &Arc<Desk>, who: usize) -> BatchTx {
        BatchTx { desk: desk.clone(), who }
    }

    /// One command changes a row, and the server says how many it were.
    fn changed(n_changed: u64) -> Arc<Desk> {
        let desk = desk();
        let left = tx(&desk, 1).change("update", vec![vec![Value::Int(1)]]).now_or_never();
        left.expect("nobody waits").unwrap();
        let [ask] = desk.take().unasked.try_into().ok().expect("one set");
        desk.answer(ask, Found { n_changed, rows: Vec::new() });
        desk
    }

    #[test]
    fn who_does_not_find_the_one_row_was_outrun() {
        for (n_changed, was_outrun) in [(0, true), (1, false), (2, true)] {
            let desk = changed(n_changed);
            assert_eq!(desk.was_outrun(1), was_outrun, "{n_changed} rows");
            assert_eq!(desk.has_changed(1), n_changed > 0, "{n_changed} rows");
            assert!(!desk.was_outrun(0) && !desk.has_changed(0), "the neighbour did nothing");
        }
    }

    #[test]
    fn a_lock_is_taken_on_the_way_and_the_next_waits_until_its_owner_leaves() {
        let (desk, what) = (desk(), Uuid::from_u128(7));
        let (mut first, mut second) = (tx(&desk, 0), tx(&desk, 1));
        assert!(first.lock(what).now_or_never().is_some(), "it goes on at once");
        let mut turn = second.lock(what);
        assert!((&mut turn).now_or_never().is_none(), "its turn has not come");
        assert_eq!(desk.take().locks, [what], "the server is asked once");
        desk.leave(0);
        assert!(turn.now_or_never().is_some());
    }
}
