//! Sends the fans, each at their moment, and watches until the last one is home.

use crate::account::{self, FanAccount};
use crate::caller::{Caller, Shared};
use crate::chance;
use crate::client::Client;
use crate::journey::Journey;
use crate::places::Places;
use crate::plan::Plan;
use crate::report::{Lengths, Report};
use crate::tally::{Ending, Step, Tally};
use crate::target::Target;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};

/// How often the progress is told.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);

/// Sign-ups at a time: hashing a password is slow on purpose, and is not what is measured.
const SIGN_UPS_AT_ONCE: usize = 16;

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub fans: u64,
    /// Accounts that are ready; fans come only when all are.
    pub accounts: u64,
    pub started: u64,
    pub admitted: u64,
    pub bought: u64,
    pub finished: u64,
    pub requests: u64,
    pub unexpected: u64,
    pub elapsed: Duration,
}

/// Plays the plan. Fans take the given accounts in order; those without one sign up first.
/// `progress` is called a few times a second and at the end. Dropping the future sends all
/// fans home at once.
pub async fn run(
    plan: Plan,
    target: Target,
    accounts: Vec<FanAccount>,
    progress: impl Fn(Progress) + Send + Sync,
) -> Report {
    let shared = Arc::new(Shared {
        client: Client::new(target),
        tally: Tally::new(),
        places: Places::default(),
        trouble_retries: plan.trouble_retries,
        run: chance::run_number(),
    });
    let n_accounts = Arc::new(AtomicU64::new(0));
    let opened = Instant::now();
    let play = play(Arc::new(plan.clone()), Arc::clone(&shared), accounts, Arc::clone(&n_accounts));
    let tell = |elapsed| progress(progress_of(&shared, &plan, &n_accounts, elapsed));
    let lengths = watch(play, || tell(opened.elapsed())).await;
    tell(opened.elapsed());
    let report = Report::of(&shared.tally, plan.fans, plan.seed, lengths);
    let (reconnects, places) = (shared.client.n_reconnects(), shared.places.findings());
    Report { reconnects, places, ..report }
}

/// Drives `work` and calls `tell` now and then until it is done.
async fn watch<T>(work: impl Future<Output = T>, tell: impl Fn()) -> T {
    let mut work = std::pin::pin!(work);
    let mut ticks = tokio::time::interval(PROGRESS_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            done = &mut work => return done,
            _tick = ticks.tick() => tell(),
        }
    }
}

async fn play(
    plan: Arc<Plan>,
    shared: Arc<Shared>,
    accounts: Vec<FanAccount>,
    n_accounts: Arc<AtomicU64>,
) -> Lengths {
    let began = Instant::now();
    let callers = log_in_all(&plan, &shared, accounts, &n_accounts).await;
    let opening = Instant::now();
    let mut fans = JoinSet::new();
    for (caller, arrival) in callers.into_iter().zip(plan.arrivals()) {
        let due = opening + arrival;
        if Instant::now() < due {
            tokio::time::sleep_until(due).await;
        }
        fans.spawn(live(Arc::clone(&plan), caller, due));
    }
    while fans.join_next().await.is_some() {}
    Lengths { sign_ups: opening - began, sale: opening.elapsed() }
}

async fn live(plan: Arc<Plan>, caller: Caller, due: Instant) {
    let shared = Arc::clone(&caller.shared);
    shared.tally.time(Step::StartLag, due.elapsed());
    shared.tally.n_started.fetch_add(1, Ordering::Relaxed);
    let ending = Journey::new(plan, caller, due).live().await;
    shared.tally.end(ending);
}

/// Gives every fan an account. A fan who gets none has failed before the sale began.
async fn log_in_all(
    plan: &Plan,
    shared: &Arc<Shared>,
    accounts: Vec<FanAccount>,
    n_accounts: &AtomicU64,
) -> Vec<Caller> {
    let mut given = accounts.into_iter();
    let mut ready = Vec::with_capacity(plan.fans as usize);
    let mut signing_up = JoinSet::new();
    for fan in 0..plan.fans {
        let mut caller = Caller::new(Arc::clone(shared), fan);
        if let Some(account) = given.next() {
            caller.access = Some(account.access_token);
            ready.push(caller);
            n_accounts.fetch_add(1, Ordering::Relaxed);
            continue;
        }
        if SIGN_UPS_AT_ONCE <= signing_up.len() {
            keep_if_ready(&mut ready, signing_up.join_next().await, n_accounts);
        }
        signing_up.spawn(log_in(caller));
    }
    while let Some(signed_up) = signing_up.join_next().await {
        keep_if_ready(&mut ready, Some(signed_up), n_accounts);
    }
    // Arrival times are dealt by place in this list: the order must not depend on the server.
    ready.sort_by_key(|caller| caller.fan);
    ready
}

async fn log_in(mut caller: Caller) -> Option<Caller> {
    match account::make(&caller).await {
        Ok(account) => {
            caller.access = Some(account.access_token);
            Some(caller)
        }
        Err(_refused) => {
            caller.shared.tally.end(Ending::Failed);
            None
        }
    }
}

fn keep_if_ready(
    ready: &mut Vec<Caller>,
    signed_up: Option<Result<Option<Caller>, tokio::task::JoinError>>,
    n_accounts: &AtomicU64,
) {
    if let Some(Ok(Some(caller))) = signed_up {
        ready.push(caller);
        n_accounts.fetch_add(1, Ordering::Relaxed);
    }
}

fn progress_of(
    shared: &Shared,
    plan: &Plan,
    n_accounts: &AtomicU64,
    elapsed: Duration,
) -> Progress {
    let tally = &shared.tally;
    let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
    Progress {
        fans: u64::from(plan.fans),
        accounts: read(n_accounts),
        started: read(&tally.n_started),
        admitted: read(&tally.n_admitted),
        bought: read(&tally.n_bought),
        finished: read(&tally.n_finished),
        requests: read(&tally.n_requests),
        unexpected: read(&tally.n_unexpected),
        elapsed,
    }
}
