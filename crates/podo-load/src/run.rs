//! Starts the fans, each at their moment, and waits until the last one is done.

use crate::fan::account;
use crate::fan::account::FanAccount;
use crate::fan::journey::Journey;
use crate::fan::places::Places;
use crate::http::caller::{Caller, Shared};
use crate::http::client::Client;
use crate::plan::LoadPlan;
use crate::report::stats::{Ending, Stats, Step};
use crate::report::{Lengths, Report};
use crate::rng;
use crate::target::Target;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};

/// The interval of progress reports.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);

/// Concurrent sign-ups: password hashing is slow on purpose, and isn't what is measured.
const SIGN_UPS_AT_ONCE: usize = 16;

/// The progress of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub fans: u64,
    /// Accounts that are ready; fans start once all are.
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
/// `progress` is called a few times a second and at the end. Dropping the future stops all fans at
/// once.
pub async fn run(
    plan: LoadPlan,
    target: Target,
    accounts: Vec<FanAccount>,
    progress: impl Fn(Progress) + Send + Sync,
) -> Report {
    let shared = Arc::new(Shared {
        client: Client::new(target),
        stats: Stats::new(),
        places: Places::default(),
        trouble_retries: plan.trouble_retries,
        run: rng::run_number(),
    });
    let n_accounts = Arc::new(AtomicU64::new(0));
    let opened = Instant::now();
    let play = play(Arc::new(plan.clone()), Arc::clone(&shared), accounts, Arc::clone(&n_accounts));
    let tell = |elapsed| progress(progress_of(&shared, &plan, &n_accounts, elapsed));
    let lengths = watch(play, || tell(opened.elapsed())).await;
    tell(opened.elapsed());
    let report = Report::of(&shared.stats, plan.fans, plan.seed, lengths);
    let (reconnects, places) = (shared.client.n_reconnects(), shared.places.findings());
    Report { reconnects, places, ..report }
}

/// Drives `work` and calls `tell` at intervals until it is done.
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
    plan: Arc<LoadPlan>,
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

async fn live(plan: Arc<LoadPlan>, caller: Caller, due: Instant) {
    let shared = Arc::clone(&caller.shared);
    shared.stats.time(Step::StartLag, due.elapsed());
    shared.stats.n_started.fetch_add(1, Ordering::Relaxed);
    let ending = Journey::new(plan, caller, due).live().await;
    shared.stats.end(ending);
}

/// Gives every fan an account. A fan without one has failed before the sale began.
async fn log_in_all(
    plan: &LoadPlan,
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
    // Arrival times are assigned by position in this list, so the order must not depend on the
    // server.
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
            caller.shared.stats.end(Ending::Failed);
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
    plan: &LoadPlan,
    n_accounts: &AtomicU64,
    elapsed: Duration,
) -> Progress {
    let stats = &shared.stats;
    let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
    Progress {
        fans: u64::from(plan.fans),
        accounts: read(n_accounts),
        started: read(&stats.n_started),
        admitted: read(&stats.n_admitted),
        bought: read(&stats.n_bought),
        finished: read(&stats.n_finished),
        requests: read(&stats.n_requests),
        unexpected: read(&stats.n_unexpected),
        elapsed,
    }
}
