//! Virtual time, and the one thread that runs everything. When no task is ready, the clock jumps to
//! the next timer.

use futures::future::BoxFuture;
use podo_app::operations::port::clock::Clock;
use podo_domain::Timestamp;
use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// The owner of a task: a node's tasks end when the node crashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    World,
    Node(usize),
}

type TaskId = u64;
type Job = BoxFuture<'static, ()>;

struct State {
    started_at: Timestamp,
    now: Timestamp,
    n_planned: u64,
    timers: BTreeMap<(Timestamp, u64), Waker>,
    spawned: Vec<(Owner, Job)>,
    crashed: Vec<usize>,
}

#[derive(Clone)]
pub(crate) struct Time(Arc<Mutex<State>>);

impl Time {
    pub(crate) fn starting(now: Timestamp) -> Time {
        let (timers, spawned, crashed) = (BTreeMap::new(), Vec::new(), Vec::new());
        let started_at = now;
        Time(Arc::new(Mutex::new(State {
            started_at,
            now,
            n_planned: 0,
            timers,
            spawned,
            crashed,
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long the world has been running.
    pub(crate) fn age(&self) -> Duration {
        let state = self.state();
        state.now.since(state.started_at)
    }

    pub(crate) fn sleep_until(&self, when: Timestamp) -> Sleep {
        Sleep { time: self.clone(), when, is_planned: false }
    }

    pub(crate) fn sleep(&self, length: Duration) -> Sleep {
        self.sleep_until(self.now().plus(length))
    }

    pub(crate) fn spawn(&self, owner: Owner, work: impl Future<Output = ()> + Send + 'static) {
        self.state().spawned.push((owner, Box::pin(work)));
    }

    /// Crashes the node: its tasks end at their current await point.
    pub(crate) fn crash(&self, node: usize) {
        self.state().crashed.push(node);
    }

    /// Wakes the earliest timers; false if there are none.
    fn jump(&self) -> bool {
        let mut state = self.state();
        let Some(((when, _), waker)) = state.timers.pop_first() else { return false };
        state.now = state.now.max(when);
        drop(state);
        waker.wake();
        true
    }
}

impl Clock for Time {
    fn now(&self) -> Timestamp {
        self.state().now
    }
}

pub(crate) struct Sleep {
    time: Time,
    when: Timestamp,
    is_planned: bool,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let time = self.time.clone();
        let mut state = time.state();
        if self.when <= state.now && self.is_planned {
            return Poll::Ready(());
        }
        state.n_planned += 1;
        let place = (self.when.max(state.now), state.n_planned);
        state.timers.insert(place, context.waker().clone());
        self.is_planned = true;
        Poll::Pending
    }
}

#[derive(Default)]
struct Ready(Mutex<VecDeque<TaskId>>);

impl Ready {
    fn queue(&self) -> MutexGuard<'_, VecDeque<TaskId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Bell {
    task: TaskId,
    ready: Arc<Ready>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.ready.queue().push_back(self.task);
    }
}

/// The executor: runs ready tasks, in order.
pub(crate) struct Thread {
    time: Time,
    tasks: BTreeMap<TaskId, (Owner, Job)>,
    ready: Arc<Ready>,
    n_tasks: TaskId,
}

impl Thread {
    pub(crate) fn new(time: Time) -> Thread {
        Thread { time, tasks: BTreeMap::new(), ready: Arc::default(), n_tasks: 0 }
    }

    /// Runs until no task is left, or until `is_over`. Returns the number of steps.
    pub(crate) fn run(&mut self, is_over: impl Fn() -> bool) -> u64 {
        let mut n_steps = 0;
        while !is_over() {
            self.take_in();
            let next = self.ready.queue().pop_front();
            match next {
                Some(task) => self.poll(task),
                None if self.time.jump() => {}
                None => break,
            }
            n_steps += 1;
        }
        n_steps
    }

    fn take_in(&mut self) {
        let spawned = std::mem::take(&mut self.time.state().spawned);
        for (owner, job) in spawned {
            self.n_tasks += 1;
            self.tasks.insert(self.n_tasks, (owner, job));
            self.ready.queue().push_back(self.n_tasks);
        }
    }

    fn poll(&mut self, task: TaskId) {
        let Some((_, job)) = self.tasks.get_mut(&task) else { return };
        let waker = Waker::from(Arc::new(Bell { task, ready: self.ready.clone() }));
        if job.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
            self.tasks.remove(&task);
        }
        let crashed = std::mem::take(&mut self.time.state().crashed);
        for node in crashed {
            self.tasks.retain(|_, (owner, _)| *owner != Owner::Node(node));
        }
    }
}
