//! Work that outlives a request, and the only loops in the program.

use app::Platform;
use app::jobs::{self, Round};
use app::leases::Leadership;
use app::ports::leases::Lease;
use domain::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Everything that runs besides the accept loop. Shutdown waits for all of it.
#[derive(Clone, Default)]
pub struct Tasks {
    tracker: TaskTracker,
    stop: CancellationToken,
}

impl Tasks {
    /// Starts work that goes on even when nobody waits for it any more.
    pub fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.tracker.spawn(work)
    }

    /// The same from a place that may be left when the runtime has ended; then nothing goes on.
    pub fn spawn_unless_over(&self, work: impl Future<Output: Send + 'static> + Send + 'static) {
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            drop(self.tracker.spawn_on(work, &runtime));
        }
    }

    /// Resolves when it is time to stop.
    pub async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    pub fn is_stopping(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Tells the loops to stop. Running requests go on.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Waits for everything that was started, at most `patience`.
    pub async fn finish(&self, patience: Duration) -> bool {
        self.tracker.close();
        tokio::time::timeout(patience, self.tracker.wait()).await.is_ok()
    }
}

/// A job and how often it runs.
#[derive(Clone, Copy)]
pub struct Schedule {
    pub job: Job,
    pub every: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    AdmitFans,
    ExpireHolds,
    OfferSeats,
    RelayMessages,
    SettlePayments,
    MakeRefunds,
    RefundCanceled,
    FollowWebhooks,
    ForgetOldRows,
    ReconcileSeats,
}

impl Job {
    pub const fn name(self) -> &'static str {
        match self {
            Job::AdmitFans => "admit",
            Job::ExpireHolds => "expire",
            Job::OfferSeats => "offer",
            Job::RelayMessages => "relay",
            Job::SettlePayments => "settle",
            Job::MakeRefunds => "refund",
            Job::RefundCanceled => "refund-canceled",
            Job::FollowWebhooks => "webhooks",
            Job::ForgetOldRows => "clean",
            Job::ReconcileSeats => "reconcile",
        }
    }

    /// What several nodes would only do twice. The others are made for many hands: they share the
    /// work row by row, and admission is one atomic step.
    const fn is_led(self) -> bool {
        match self {
            Job::RelayMessages | Job::RefundCanceled | Job::ForgetOldRows | Job::ReconcileSeats => {
                true
            }
            Job::AdmitFans
            | Job::ExpireHolds
            | Job::OfferSeats
            | Job::SettlePayments
            | Job::FollowWebhooks
            | Job::MakeRefunds => false,
        }
    }

    async fn run(
        self,
        platform: &Platform,
        lease: Option<Lease>,
        now: Timestamp,
    ) -> app::Result<Round> {
        match self {
            Job::AdmitFans => jobs::admit_fans(platform, now).await,
            Job::ExpireHolds => jobs::expire_holds(platform, now).await,
            Job::OfferSeats => jobs::offer_seats(platform, now).await,
            Job::RelayMessages => jobs::relay_messages(platform, now).await,
            Job::SettlePayments => jobs::settle_unknown_payments(platform, now).await,
            Job::MakeRefunds => jobs::make_refunds(platform, now).await,
            Job::RefundCanceled => jobs::refund_canceled_shows(platform, now).await,
            Job::FollowWebhooks => jobs::follow_webhooks(platform, now).await,
            Job::ForgetOldRows => jobs::forget_old_rows(platform, now).await,
            Job::ReconcileSeats => jobs::reconcile_seats(platform, lease, now).await,
        }
    }
}

/// Runs a job until it is time to stop: a round, a pause, the next round. A full round is followed
/// by the next at once.
pub async fn run_job(platform: Arc<Platform>, tasks: Tasks, schedule: Schedule) {
    let Schedule { job, every } = schedule;
    let name = job.name();
    let mut leadership = job.is_led().then(|| Leadership::of(name, every));
    while !tasks.is_stopping() {
        let is_full = match run_round(&platform, job, leadership.as_mut()).await {
            Ok(round) => {
                if round.done + round.failed > 0 {
                    let (done, failed) = (round.done, round.failed);
                    tracing::debug!(job = name, done, failed, "A round of {name} is done");
                }
                round.is_full
            }
            Err(error) => {
                tracing::error!(job = name, %error, "A round of {name} failed; it is tried again");
                false
            }
        };
        if !is_full {
            let pause = tokio::time::sleep(every);
            tokio::select! {
                () = pause => {}
                () = tasks.stopped() => {}
            }
        }
    }
    if let Some(leadership) = leadership
        && let Err(error) = leadership.give_up(&platform).await
    {
        tracing::warn!(job = name, %error, "The lead of {name} ends by itself");
    }
}

/// A round, unless another node leads the job.
async fn run_round(
    platform: &Platform,
    job: Job,
    leadership: Option<&mut Leadership>,
) -> app::Result<Round> {
    let now = platform.now();
    let Some(leadership) = leadership else { return job.run(platform, None, now).await };
    match leadership.lease(platform, now).await? {
        Some(lease) => job.run(platform, Some(lease), now).await,
        None => Ok(Round::default()),
    }
}
