//! A running server: starts on a bound listener, and shuts down in order.

use crate::bootstrap::Bootstrapped;
use crate::config::{Config, Switch};
use crate::http::address_budgets::Shares;
use crate::http::listener;
use crate::http::listener::Patience;
use crate::jobs::tasks::Tasks;
use crate::jobs::workers::{
    join, notify_relays, prepare_bus, run_cache_invalidator, run_worker, wake_relay,
};
use crate::jobs::{Job, Schedule, Timing, run_job};
use crate::routes::{AppState, Edge, Tracing};
use crate::telemetry::Metrics;
use anyhow::{Context, Result};
use podo_adapters::sql::SqlStore;
use podo_app::AppContext;
use podo_app::booking::reconciliation::fill_filter;
use podo_app::identity::accounts::{SignUp, create_admin, recall_ended_sessions};
use podo_app::messaging::workers::ALL;
use podo_app::operations::clock::{SYNC_EVERY, SyncedClock};
use podo_app::operations::throttling::latency_window;
use podo_app::operations::throttling::limits::Group;
use podo_app::operations::throttling::rate_limits::{RETRY_INTERVAL, SYNC_INTERVAL};
use podo_app::waiting_room::jobs::{SAMPLE_EVERY, open_rooms};
use podo_app::waiting_room::{FLUSH_EVERY, flush_queue_log};
use podo_domain::catalog::text::Line;
use podo_domain::identity::{Email, NewPassword, Role};
use secrecy::ExposeSecret;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// How long shutdown waits for background work.
const FINISH_WITHIN: Duration = Duration::from_secs(5);

pub struct Server {
    pub context: Arc<AppContext>,
    pub address: SocketAddr,
    /// The address of the admin listener, if there is one.
    pub inner: Option<SocketAddr>,
    tasks: Tasks,
    accepting: JoinHandle<()>,
}

impl Server {
    /// Serves requests on the listener, and runs the jobs.
    pub async fn start(
        config: &Config,
        bootstrapped: Bootstrapped,
        listener: TcpListener,
    ) -> Result<Server> {
        let context = Arc::new(bootstrapped.context);
        let address = listener.local_addr()?;
        let inner = match config.listen_admin.as_str() {
            "" => None,
            place => Some(listener::bind(place).context("listen_admin")?),
        };
        let tasks = Tasks::default();
        tasks.spawn(sync_clock(
            bootstrapped.clock.clone(),
            bootstrapped.store.clone(),
            tasks.clone(),
        ));
        for group in Group::all() {
            tasks.spawn(sync_rate_limits(context.clone(), tasks.clone(), group));
        }
        make_admin(config, &context).await?;
        open_rooms(&context, context.now()).await?;
        fill_filter(&context).await?;
        recall_ended_sessions(&context).await?;
        start_background_work(config, &context, &tasks).await;
        let state = Arc::new(AppState {
            context: context.clone(),
            clock: bootstrapped.clock,
            sandbox: bootstrapped.sandbox,
            tasks: tasks.clone(),
            metrics: Metrics::new().with_pools_of(bootstrapped.store),
            layouts: Default::default(),
            booking_lists: Default::default(),
            seat_feed: Default::default(),
            streams: Default::default(),
            simulation: Default::default(),
            address,
            requests_per_second_per_ip: config.requests_per_second_per_ip,
            requests_per_minute_per_user: config.requests_per_minute_per_user,
            gate_requests_per_second_per_ip: config.gate_requests_per_second_per_ip,
            gate_requests_per_minute_per_user: config.gate_requests_per_minute_per_user,
            connections_per_ip: config.connections_per_ip,
            streams_open: Shares::new(match config.limits {
                Switch::On => config.streams_per_ip.into(),
                Switch::Off => u64::MAX,
            }),
            unsent: Shares::new(u64::from(config.unsent_mb_per_ip) << 20),
            patience: Patience::of(config),
            proxies: config.proxies()?,
            home: config.public_url.trim_end_matches('/').to_owned(),
            embeds: config.embeds()?,
            roles: config.roles.clone(),
            has_inner: inner.is_some(),
            tracing: context
                .spans
                .clone()
                .map(|spans| Tracing { spans, percent: config.otlp_percent }),
            jobs: all_schedules(config).map(|it| (it.job, it.timing.to_string())).to_vec(),
        });
        if let Some(exporter) = bootstrapped.exporter {
            let stopped = tasks.clone();
            tasks.spawn(exporter.run(async move { stopped.stopped().await }));
        }
        let inner_address = inner.as_ref().map(TcpListener::local_addr).transpose()?;
        if let Some(inner) = inner {
            tasks.spawn(listener::serve(inner, Edge::inner(state.clone()), tasks.clone()));
        }
        let accepting = tasks.spawn(listener::serve(listener, Edge::new(state), tasks.clone()));
        Ok(Server { context, address, inner: inner_address, tasks, accepting })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Stops accepting, and waits for running requests and jobs.
    pub async fn stop(self) {
        self.tasks.stop();
        let _ = self.accepting.await;
        if !self.tasks.finish(FINISH_WITHIN).await {
            tracing::warn!("Some background work did not finish in time");
        }
    }
}

/// Starts workers and jobs; workers outlive the relay, which publishes to them.
async fn start_background_work(config: &Config, context: &Arc<AppContext>, tasks: &Tasks) {
    let workers = tasks.outliving();
    start_workers(config, context, tasks, &workers).await;
    let mut relays = Vec::new();
    for schedule in schedules(config) {
        let running = tasks.spawn(run_job(context.clone(), tasks.clone(), schedule));
        if schedule.job == Job::RelayMessages {
            relays.push(running);
        }
    }
    tasks.spawn(stop_after(workers, relays, tasks.clone()));
}

/// Workers subscribe before the relay publishes, because the in-process bus doesn't keep messages
/// that a missing subscriber would need.
async fn start_workers(config: &Config, context: &Arc<AppContext>, tasks: &Tasks, workers: &Tasks) {
    tasks.spawn(prepare_bus(context.clone(), tasks.clone()));
    tasks.spawn(share_node_load(context.clone(), tasks.clone()));
    tasks.spawn(write_queue_log(context.clone(), tasks.clone()));
    // With the in-process bus, only this process changes data, and it invalidates its own caches.
    if config.bus.reaches_others() {
        tasks.spawn(run_cache_invalidator(context.clone(), tasks.clone()));
    }
    let has_notify = config.bus.relay_notify == Switch::On;
    if has_notify {
        tasks.spawn(notify_relays(context.clone(), tasks.clone()));
    }
    if !config.roles.works {
        return;
    }
    if has_notify {
        tasks.spawn(wake_relay(context.clone(), tasks.clone()));
    }
    let places = ALL.map(async |worker| (worker, join(context, worker).await));
    for (worker, place) in futures::future::join_all(places).await {
        tasks.spawn(run_worker(context.clone(), workers.clone(), worker, place));
    }
}

/// Stops the workers once the relay has ended: with the in-process bus, messages that it is
/// publishing count as failed if their workers leave first.
async fn stop_after(workers: Tasks, relays: Vec<JoinHandle<()>>, tasks: Tasks) {
    tasks.stopped().await;
    futures::future::join_all(relays).await;
    workers.stop();
}

/// Keeps this node's clock in step with the store's.
async fn sync_clock(clock: Arc<SyncedClock>, store: Arc<SqlStore>, tasks: Tasks) {
    while !tasks.is_stopping() {
        tasks.pause(SYNC_EVERY).await;
        if let Err(error) = clock.sync(&*store).await {
            tracing::warn!(%error, "Could not read the store's clock");
        }
    }
}

/// Writes the waiting rooms' log to the store in batches, including the rest at shutdown.
async fn write_queue_log(context: Arc<AppContext>, tasks: Tasks) {
    loop {
        let is_last = tasks.is_stopping();
        match flush_queue_log(&context).await {
            Ok(true) if is_last => continue,
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(%error, "Could not write the queue log; retrying");
            }
        }
        if is_last {
            return;
        }
        tasks.pause(FLUSH_EVERY).await;
    }
}

/// Publishes this node's load once a second, and reads the load of the others.
async fn share_node_load(context: Arc<AppContext>, tasks: Tasks) {
    while !tasks.is_stopping() {
        if let Err(error) = latency_window::share_node_load(&context, context.now()).await {
            tracing::warn!(%error, "Could not share the node load; retrying");
        }
        tasks.pause(Duration::from_secs(1)).await;
    }
}

/// Reports this node's use of shared rate limits whenever keys of the group are due. Each group has
/// its own loop, so an unreachable group delays none of the others.
async fn sync_rate_limits(context: Arc<AppContext>, tasks: Tasks, group: Group) {
    let limits = &context.operations.rate_limits;
    loop {
        tokio::select! {
            () = limits.due(group) => {}
            () = tasks.stopped() => return,
        }
        // `sync` logs and counts its failures.
        let pause = match limits.sync(group, &*context.clock).await {
            Ok(()) => SYNC_INTERVAL,
            Err(_) => RETRY_INTERVAL.mul_f64(0.5 + context.rng.number() as f64 / u64::MAX as f64),
        };
        tasks.pause(pause).await;
    }
}

/// All jobs with their timing.
pub fn all_schedules(config: &Config) -> [Schedule; Job::ALL.len()] {
    let every = |ms: u32| Timing::Every(Duration::from_millis(u64::from(ms)));
    Job::ALL.map(|job| {
        let timing = match job {
            Job::AdmitFans => every(config.admit_every_ms),
            Job::ExpireHolds
            | Job::OfferSeats
            | Job::Draw
            | Job::OfferDrawn
            | Job::OfferResales => every(config.sweep_every_ms),
            Job::RelayMessages => every(config.bus.relay_every_ms),
            Job::SettlePayments
            | Job::FollowDeposits
            | Job::MakeRefunds
            | Job::FollowWebhooks
            | Job::ReleaseKept
            | Job::ReplayDeadLetters
            | Job::SendNotices
            | Job::DeliverWebhooks
            | Job::UpdateScheduleStatuses => every(1_000),
            Job::RefundCanceled | Job::Announce | Job::IndexNames => every(2_000),
            Job::ReconcileSeats => Timing::Every(config.reconcile_every()),
            Job::VerifyInvariants => Timing::Every(config.verify_every()),
            Job::SampleSales => Timing::Every(SAMPLE_EVERY),
            Job::ForgetMessages => Timing::Daily { hour: 2 },
            Job::ForgetRooms => Timing::Daily { hour: 3 },
            Job::ApplyRetention => Timing::Daily { hour: 4 },
            Job::KeepLogins => Timing::Daily { hour: 5 },
            Job::EraseOldRecords => Timing::Daily { hour: 18 },
        };
        Schedule { job, timing }
    })
}

/// The jobs that this node runs.
fn schedules(config: &Config) -> impl Iterator<Item = Schedule> {
    let (admits, works) = (config.roles.admits, config.roles.works);
    let is_ours = move |job: Job| if job == Job::AdmitFans { admits } else { works };
    all_schedules(config).into_iter().filter(move |schedule| is_ours(schedule.job))
}

/// Creates the first organiser from the settings.
async fn make_admin(config: &Config, context: &AppContext) -> Result<()> {
    if config.admin_email.is_empty() {
        return Ok(());
    }
    let asked = admin_account(&config.admin_email, config.admin_password.expose_secret())?;
    if create_admin(context, asked).await?.is_some() {
        tracing::info!("Created the first organiser's account");
    }
    Ok(())
}

/// Validates an organiser's account, and says which field is invalid.
pub fn admin_account(email: &str, password: &str) -> Result<SignUp> {
    Ok(SignUp {
        email: Email::try_from(email.to_owned()).context("invalid e-mail address")?,
        password: NewPassword::try_from(password.to_owned()).context("invalid password")?,
        name: Line::try_from("Organiser".to_owned()).context("invalid name")?,
        phone: None,
        role: Role::Admin,
    })
}
