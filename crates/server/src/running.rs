//! A running server: started on a bound listener, stopped in order.

use crate::api::{Edge, Shared, Tracing};
use crate::config::{Config, Switch};
use crate::jobs::{Job, Schedule, Timing, run_job};
use crate::shares::Shares;
use crate::tasks::Tasks;
use crate::telemetry::Metrics;
use crate::web::{self, Patience};
use crate::wire::Wired;
use crate::workers::{hear_bell, join, prepare_bus, ring_bell, run_ear, run_worker};
use adapters::sql::SqlStore;
use anyhow::{Context, Result};
use app::Platform;
use app::accounts::{SignUp, create_admin, recall_ended_sessions};
use app::clock::{SYNC_EVERY, SyncedClock};
use app::jobs::open_rooms;
use app::ports::limits::Group;
use app::queue::{FLUSH_EVERY, flush_queue_log};
use app::rate_limits::{RETRY_INTERVAL, SYNC_INTERVAL};
use app::reconciliation::fill_filter;
use app::vitals;
use app::workers::ALL;
use domain::accounts::{Email, NewPassword, Role};
use domain::text::Line;
use secrecy::ExposeSecret;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// How long background work may take to finish.
const FINISH_WITHIN: Duration = Duration::from_secs(5);

pub struct Running {
    pub platform: Arc<Platform>,
    pub address: SocketAddr,
    /// Where operators look, if they have a place of their own.
    pub inner: Option<SocketAddr>,
    tasks: Tasks,
    accepting: JoinHandle<()>,
}

impl Running {
    /// Starts answering on the listener, and the jobs beside it.
    pub async fn start(config: &Config, wired: Wired, listener: TcpListener) -> Result<Running> {
        let platform = Arc::new(wired.platform);
        let address = listener.local_addr()?;
        let inner = match config.listen_admin.as_str() {
            "" => None,
            place => Some(web::bind(place).context("listen_admin")?),
        };
        let tasks = Tasks::default();
        tasks.spawn(sync_clock(wired.clock.clone(), wired.store.clone(), tasks.clone()));
        for group in Group::all() {
            tasks.spawn(sync_rate_limits(platform.clone(), tasks.clone(), group));
        }
        make_admin(config, &platform).await?;
        open_rooms(&platform, platform.now()).await?;
        fill_filter(&platform).await?;
        recall_ended_sessions(&platform).await?;
        start_workers(config, &platform, &tasks).await;
        for schedule in schedules(config) {
            tasks.spawn(run_job(platform.clone(), tasks.clone(), schedule));
        }
        let shared = Arc::new(Shared {
            platform: platform.clone(),
            clock: wired.clock,
            sandbox: wired.sandbox,
            tasks: tasks.clone(),
            metrics: Metrics::new().with_pools_of(wired.store),
            layouts: Default::default(),
            booking_lists: Default::default(),
            seat_feed: Default::default(),
            streams: Default::default(),
            simulation: Default::default(),
            address,
            requests_per_second_per_ip: config.requests_per_second_per_ip,
            requests_per_minute_per_user: config.requests_per_minute_per_user,
            connections_per_ip: config.connections_per_ip,
            streams_open: Shares::new(match config.limits {
                Switch::On => config.streams_per_ip.into(),
                Switch::Off => u64::MAX,
            }),
            unsent: Shares::new(u64::from(config.unsent_mb_per_ip) << 20),
            patience: Patience::of(config),
            proxies: config.proxies()?,
            home: config.public_url.trim_end_matches('/').to_owned(),
            roles: config.roles.clone(),
            has_inner: inner.is_some(),
            tracing: platform
                .spans
                .clone()
                .map(|spans| Tracing { spans, percent: config.otlp_percent }),
            jobs: all_schedules(config).map(|it| (it.job, it.timing.to_string())).to_vec(),
        });
        if let Some(exporter) = wired.exporter {
            let stopped = tasks.clone();
            tasks.spawn(exporter.run(async move { stopped.stopped().await }));
        }
        let inner_address = inner.as_ref().map(TcpListener::local_addr).transpose()?;
        if let Some(inner) = inner {
            tasks.spawn(web::serve(inner, Edge::inner(shared.clone()), tasks.clone()));
        }
        let accepting = tasks.spawn(web::serve(listener, Edge::new(shared), tasks.clone()));
        Ok(Running { platform, address, inner: inner_address, tasks, accepting })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Stops accepting, lets running requests and jobs finish.
    pub async fn stop(self) {
        self.tasks.stop();
        let _ = self.accepting.await;
        if !self.tasks.finish(FINISH_WITHIN).await {
            tracing::warn!("Some background work did not finish in time");
        }
    }
}

/// The workers take their places before the relay publishes: in the process, nobody else would
/// keep what they missed.
async fn start_workers(config: &Config, platform: &Arc<Platform>, tasks: &Tasks) {
    tasks.spawn(prepare_bus(platform.clone(), tasks.clone()));
    tasks.spawn(share_strain(platform.clone(), tasks.clone()));
    tasks.spawn(write_queue_log(platform.clone(), tasks.clone()));
    // Where messages stay in the process, it has changed by itself all that it would hear of.
    if config.bus.reaches_others() {
        tasks.spawn(run_ear(platform.clone(), tasks.clone()));
    }
    let has_bell = config.bus.relay_bell == Switch::On;
    if has_bell {
        tasks.spawn(ring_bell(platform.clone(), tasks.clone()));
    }
    if !config.roles.works {
        return;
    }
    if has_bell {
        tasks.spawn(hear_bell(platform.clone(), tasks.clone()));
    }
    let places = ALL.map(async |worker| (worker, join(platform, worker).await));
    for (worker, place) in futures::future::join_all(places).await {
        tasks.spawn(run_worker(platform.clone(), tasks.clone(), worker, place));
    }
}

/// Keeps this node's clock at the store's.
async fn sync_clock(clock: Arc<SyncedClock>, store: Arc<SqlStore>, tasks: Tasks) {
    while !tasks.is_stopping() {
        tasks.pause(SYNC_EVERY).await;
        if let Err(error) = clock.sync(&*store).await {
            tracing::warn!(%error, "The store's clock could not be read");
        }
    }
}

/// Writes what happened in the waiting rooms to the store, a batch at a time; what is left when the
/// node stops is written then.
async fn write_queue_log(platform: Arc<Platform>, tasks: Tasks) {
    loop {
        let is_last = tasks.is_stopping();
        match flush_queue_log(&platform).await {
            Ok(true) if is_last => continue,
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(%error, "The queue log could not be written; trying again");
            }
        }
        if is_last {
            return;
        }
        tasks.pause(FLUSH_EVERY).await;
    }
}

/// Every node says once a second how it bears its load, and hears how the others do.
async fn share_strain(platform: Arc<Platform>, tasks: Tasks) {
    while !tasks.is_stopping() {
        if let Err(error) = vitals::share_strain(&platform, platform.now()).await {
            tracing::warn!(%error, "Nobody knows how the other nodes bear their load");
        }
        tasks.pause(Duration::from_secs(1)).await;
    }
}

/// Reports what this node took of shared rate limits, whenever keys of the group are due. A group
/// that cannot be reached holds up none of the others.
async fn sync_rate_limits(platform: Arc<Platform>, tasks: Tasks, group: Group) {
    let limits = &platform.rate_limits;
    loop {
        tokio::select! {
            () = limits.due(group) => {}
            () = tasks.stopped() => return,
        }
        // What went wrong is logged and counted there.
        let pause = match limits.sync(group, &*platform.clock).await {
            Ok(()) => SYNC_INTERVAL,
            Err(_) => {
                RETRY_INTERVAL.mul_f64(0.5 + platform.chance.number() as f64 / u64::MAX as f64)
            }
        };
        tasks.pause(pause).await;
    }
}

/// When each job runs.
pub fn all_schedules(config: &Config) -> [Schedule; Job::ALL.len()] {
    let every = |ms: u32| Timing::Every(Duration::from_millis(u64::from(ms)));
    Job::ALL.map(|job| {
        let timing = match job {
            Job::AdmitFans => every(config.admit_every_ms),
            Job::ExpireHolds | Job::OfferSeats => every(config.sweep_every_ms),
            Job::RelayMessages => every(config.bus.relay_every_ms),
            Job::SettlePayments
            | Job::MakeRefunds
            | Job::FollowWebhooks
            | Job::ReplayDeadLetters
            | Job::SendNotices
            | Job::DeliverWebhooks
            | Job::UpdateScheduleStatuses => every(1_000),
            Job::RefundCanceled => every(2_000),
            Job::ReconcileSeats => Timing::Every(config.reconcile_every()),
            Job::VerifyPromises => Timing::Every(config.verify_every()),
            Job::ForgetMessages => Timing::Daily { hour: 2 },
            Job::ForgetRooms => Timing::Daily { hour: 3 },
            Job::KeepLess => Timing::Daily { hour: 4 },
            Job::KeepLogins => Timing::Daily { hour: 5 },
            Job::EraseOldRecords => Timing::Daily { hour: 18 },
        };
        Schedule { job, timing }
    })
}

/// The jobs of this node.
fn schedules(config: &Config) -> impl Iterator<Item = Schedule> {
    let (admits, works) = (config.roles.admits, config.roles.works);
    let is_ours = move |job: Job| if job == Job::AdmitFans { admits } else { works };
    all_schedules(config).into_iter().filter(move |schedule| is_ours(schedule.job))
}

/// The first organiser, from the settings.
async fn make_admin(config: &Config, platform: &Platform) -> Result<()> {
    if config.admin_email.is_empty() {
        return Ok(());
    }
    let asked = admin_account(&config.admin_email, config.admin_password.expose_secret())?;
    if create_admin(platform, asked).await?.is_some() {
        tracing::info!("Made the first organiser's account");
    }
    Ok(())
}

/// An organiser's account, with a clear word about what is wrong with it.
pub fn admin_account(email: &str, password: &str) -> Result<SignUp> {
    Ok(SignUp {
        email: Email::try_from(email.to_owned()).context("the e-mail address")?,
        password: NewPassword::try_from(password.to_owned()).context("the password")?,
        name: Line::try_from("Organiser".to_owned()).context("the name")?,
        phone: None,
        role: Role::Admin,
    })
}
