//! The in-process bus. An envelope counts as published once every group has processed it, so that
//! nothing is lost between the outbox and a worker when the process ends.

use async_trait::async_trait;
use podo_app::messaging::port::bus::{Bus as BusPort, Envelope, Subscription};
use podo_app::{Error, Result};
use podo_domain::messaging::messages::Topic;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};

/// How long a publisher waits for the workers before it may publish again.
const DONE_WITHIN: Duration = Duration::from_secs(30);

#[derive(Clone, Default)]
pub struct Bus {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    groups: HashMap<String, Arc<Group>>,
    n_members: u64,
}

struct Group {
    topics: Vec<Topic>,
    state: Mutex<State>,
    arrived: Notify,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Waiting>,
    /// Which member works on which key.
    busy: HashMap<String, u64>,
    n_members: u32,
}

struct Waiting {
    envelope: Envelope,
    done: oneshot::Sender<()>,
}

#[async_trait]
impl BusPort for Bus {
    async fn publish(&self, envelope: &Envelope) -> Result<()> {
        let groups: Vec<Arc<Group>> = self.lock().groups.values().cloned().collect();
        let wants = |group: &Arc<Group>| group.topics.contains(&envelope.topic);
        let answers = groups.into_iter().filter(wants).map(|group| group.add(envelope.clone()));
        let all = futures::future::try_join_all(answers.collect::<Vec<_>>());
        match tokio::time::timeout(DONE_WITHIN, all).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_left)) => Err(Error::unavailable("the workers have stopped")),
            Err(_elapsed) => Err(Error::unavailable("the workers didn't finish in time")),
        }
    }

    async fn subscribe(&self, group: &str, topics: &[Topic]) -> Result<Box<dyn Subscription>> {
        Ok(Box::new(self.join(group.to_owned(), topics)))
    }

    async fn listen(&self, topics: &[Topic]) -> Result<Box<dyn Subscription>> {
        let name = format!("listener {}", self.lock().n_members);
        Ok(Box::new(self.join(name, topics)))
    }
}

impl Bus {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().expect("the lock is never poisoned")
    }

    fn join(&self, name: String, topics: &[Topic]) -> Member {
        let mut shared = self.lock();
        shared.n_members += 1;
        let number = shared.n_members;
        let group = shared.groups.entry(name.clone()).or_insert_with(|| {
            let (state, arrived) = (Mutex::default(), Notify::new());
            Arc::new(Group { topics: topics.to_vec(), state, arrived })
        });
        let group = group.clone();
        group.lock().n_members += 1;
        Member { bus: self.clone(), name, number, group, taken: Vec::new() }
    }
}

impl Group {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("the lock is never poisoned")
    }

    fn add(&self, envelope: Envelope) -> oneshot::Receiver<()> {
        let (done, answer) = oneshot::channel();
        self.lock().waiting.push_back(Waiting { envelope, done });
        self.arrived.notify_one();
        answer
    }

    /// Takes envelopes whose key no other member works on. Skips everything of a busy key, to keep
    /// its order.
    fn take(&self, member: u64, limit: usize) -> Vec<Waiting> {
        let mut state = self.lock();
        let mut taken = Vec::new();
        let mut left = VecDeque::with_capacity(state.waiting.len());
        while let Some(next) = state.waiting.pop_front() {
            // The publisher has timed out and will publish it again.
            if next.done.is_closed() {
                continue;
            }
            let is_others = state.busy.get(&next.envelope.key).is_some_and(|it| *it != member);
            if is_others || taken.len() >= limit {
                left.push_back(next);
                if taken.len() >= limit {
                    break;
                }
                continue;
            }
            state.busy.insert(next.envelope.key.clone(), member);
            taken.push(next);
        }
        left.append(&mut state.waiting);
        state.waiting = left;
        taken
    }

    /// Releases these keys.
    fn let_go(&self, taken: &[Waiting]) {
        let keys: HashSet<&str> = taken.iter().map(|it| it.envelope.key.as_str()).collect();
        self.lock().busy.retain(|key, _| !keys.contains(key.as_str()));
        self.arrived.notify_waiters();
    }
}

struct Member {
    bus: Bus,
    name: String,
    number: u64,
    group: Arc<Group>,
    taken: Vec<Waiting>,
}

#[async_trait]
impl Subscription for Member {
    async fn receive(&mut self, limit: usize, patience: Duration) -> Result<Vec<Envelope>> {
        let deadline = tokio::time::Instant::now() + patience;
        let group = self.group.clone();
        loop {
            let arrived = group.arrived.notified();
            let taken = group.take(self.number, limit);
            if !taken.is_empty() {
                let envelopes = taken.iter().map(|it| it.envelope.clone()).collect();
                self.taken.extend(taken);
                return Ok(envelopes);
            }
            if tokio::time::timeout_at(deadline, arrived).await.is_err() {
                return Ok(Vec::new());
            }
        }
    }

    async fn commit(&mut self) -> Result<()> {
        self.group.let_go(&self.taken);
        for waiting in self.taken.drain(..) {
            // The publisher may have timed out; the repeat is then recognised as processed.
            let _ = waiting.done.send(());
        }
        Ok(())
    }

    async fn rewind(&mut self) -> Result<()> {
        self.put_back();
        Ok(())
    }
}

impl Member {
    fn put_back(&mut self) {
        self.group.let_go(&self.taken);
        let mut state = self.group.lock();
        for waiting in self.taken.drain(..).rev() {
            state.waiting.push_front(waiting);
        }
    }
}

/// Leaves unfinished envelopes to the other members. The last member ends the group, and waiting
/// publishers get an error.
impl Drop for Member {
    fn drop(&mut self) {
        self.put_back();
        let mut shared = self.bus.lock();
        let n_left = {
            let mut state = self.group.lock();
            state.n_members -= 1;
            state.n_members
        };
        if n_left == 0 {
            shared.groups.remove(&self.name);
            self.group.lock().waiting.clear();
        }
        drop(shared);
        self.group.arrived.notify_waiters();
    }
}

#[tokio::test]
async fn keeps_the_contract() {
    podo_app::messaging::port::bus::contract::check(&Bus::default(), 1).await;
}
