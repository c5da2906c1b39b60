//! Where the commands of a batch hand in what they ask the database, and wait for the answers.

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
    pub(super) send: oneshot::Sender<Found>,
}

/// What a statement found or changed for one asker.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) n_changed: u64,
    pub(super) rows: Vec<Row>,
}

#[derive(Default)]
struct State {
    /// What is to be added while nobody waits for an answer.
    added: Vec<Ask>,
    asks: Vec<Ask>,
    locks: HashMap<Uuid, Lock>,
    /// Locks that nobody of the batch had before: the database must give them.
    new_locks: Vec<(Uuid, oneshot::Sender<()>)>,
    /// Commands that have changed something.
    changers: Vec<bool>,
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
    /// To be sent before the asks: whoever asks comes after what was added, by themselves or by
    /// the one who had the lock before.
    pub(super) added: Vec<Ask>,
    pub(super) asks: Vec<Ask>,
    pub(super) locks: Vec<(Uuid, oneshot::Sender<()>)>,
}

impl Round {
    pub(super) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.asks.is_empty() && self.locks.is_empty()
    }
}

impl Desk {
    pub(super) fn new(n_commands: usize, chance: Arc<dyn Chance>, off: Arc<[Guard]>) -> Desk {
        let state = State { changers: vec![false; n_commands], ..State::default() };
        Desk { state: Mutex::new(state), chance, off }
    }

    /// Everything that was handed in since the last round.
    pub(super) fn take(&self) -> Round {
        let mut state = self.state();
        Round {
            added: std::mem::take(&mut state.added),
            asks: std::mem::take(&mut state.asks),
            locks: std::mem::take(&mut state.new_locks),
        }
    }

    pub(super) fn answer(&self, ask: Ask, found: Found) {
        if found.n_changed > 0 {
            self.state().changers[ask.who] = true;
        }
        // An asker that is gone needs no answer.
        let _ = ask.send.send(found);
    }

    pub(super) fn has_changed(&self, who: usize) -> bool {
        self.state().changers[who]
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

    fn lock(&self, who: usize, what: Uuid) -> Option<oneshot::Receiver<()>> {
        let (send, receive) = oneshot::channel();
        let mut state = self.state();
        match state.locks.get_mut(&what) {
            Some(lock) if lock.owner == who => return None,
            Some(lock) => lock.waiting.push_back((who, send)),
            None => {
                state.locks.insert(what, Lock { owner: who, waiting: VecDeque::new() });
                state.new_locks.push((what, send));
            }
        }
        Some(receive)
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
        self.desk.state().asks.push(Ask { who: self.who, sql, params, send });
        receive
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
        let added = sets.into_iter().map(|params| {
            let (send, _) = oneshot::channel();
            Ask { who: self.who, sql, params, send }
        });
        self.desk.state().added.extend(added);
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
