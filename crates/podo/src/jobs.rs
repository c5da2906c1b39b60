//! The jobs: what runs when, on which nodes, and how the last round went.

pub mod tasks;
pub mod workers;

use crate::jobs::tasks::Tasks;
use podo_app::AppContext;
use podo_app::catalog::jobs::update_schedule_statuses;
use podo_app::messaging::jobs::relay::relay_messages;
use podo_app::operations::jobs::Round;
use podo_app::operations::leases::Leadership;
use podo_app::operations::port::job_runs::JobRun;
use podo_app::operations::port::leases::Lease;
use podo_app::payments::jobs as money;
use podo_domain::Timestamp;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A job and when it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    pub job: Job,
    pub timing: Timing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    Every(Duration),
    /// Once a day at this hour in UTC. A missed day is made up for at the next start.
    Daily {
        hour: u8,
    },
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Timing::Every(pause) => write!(f, "every {pause:?}"),
            Timing::Daily { hour } => write!(f, "daily {hour:02}:00 UTC"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    AdmitFans,
    ExpireHolds,
    ReleaseKept,
    OfferSeats,
    Draw,
    OfferDrawn,
    RelayMessages,
    ReplayDeadLetters,
    SendNotices,
    Announce,
    DeliverWebhooks,
    SettlePayments,
    FollowDeposits,
    MakeRefunds,
    RefundCanceled,
    FollowWebhooks,
    ReconcileSeats,
    UpdateScheduleStatuses,
    IndexNames,
    OfferResales,
    ForgetMessages,
    ForgetRooms,
    ApplyRetention,
    KeepLogins,
    EraseOldRecords,
    VerifyInvariants,
    SampleSales,
}

impl Job {
    pub const ALL: [Job; 27] = [
        Job::AdmitFans,
        Job::ExpireHolds,
        Job::ReleaseKept,
        Job::OfferSeats,
        Job::Draw,
        Job::OfferDrawn,
        Job::RelayMessages,
        Job::ReplayDeadLetters,
        Job::SendNotices,
        Job::Announce,
        Job::DeliverWebhooks,
        Job::SettlePayments,
        Job::FollowDeposits,
        Job::MakeRefunds,
        Job::RefundCanceled,
        Job::FollowWebhooks,
        Job::ReconcileSeats,
        Job::UpdateScheduleStatuses,
        Job::IndexNames,
        Job::OfferResales,
        Job::ForgetMessages,
        Job::ForgetRooms,
        Job::ApplyRetention,
        Job::KeepLogins,
        Job::EraseOldRecords,
        Job::VerifyInvariants,
        Job::SampleSales,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Job::AdmitFans => "admit",
            Job::ExpireHolds => "expire",
            Job::ReleaseKept => "release-kept",
            Job::OfferSeats => "offer",
            Job::Draw => "draw",
            Job::OfferDrawn => "offer-drawn",
            Job::RelayMessages => "relay",
            Job::ReplayDeadLetters => "replay",
            Job::SendNotices => "notify",
            Job::Announce => "announce",
            Job::DeliverWebhooks => "deliver",
            Job::SettlePayments => "settle",
            Job::FollowDeposits => "deposits",
            Job::MakeRefunds => "refund",
            Job::RefundCanceled => "refund-canceled",
            Job::FollowWebhooks => "webhooks",
            Job::ReconcileSeats => "reconcile",
            Job::UpdateScheduleStatuses => "schedule-status",
            Job::IndexNames => "names",
            Job::OfferResales => "resell",
            Job::ForgetMessages => "clean-messages",
            Job::ForgetRooms => "clean-queues",
            Job::ApplyRetention => "retention",
            Job::KeepLogins => "login-history",
            Job::EraseOldRecords => "payment-retention",
            Job::VerifyInvariants => "verify",
            Job::SampleSales => "sample",
        }
    }

    pub const fn about(self) -> &'static str {
        match self {
            Job::AdmitFans => "admits waiting fans",
            Job::ExpireHolds => "frees seats whose hold has expired",
            Job::ReleaseKept => "puts kept seats on sale at the time of their release",
            Job::OfferSeats => "offers returned seats to the standby list",
            Job::Draw => "draws the applications of draw sales",
            Job::OfferDrawn => "offers seats to winners of draws, in the drawn order",
            Job::RelayMessages => "publishes the outbox",
            Job::ReplayDeadLetters => "retries dead letters that an organiser replays",
            Job::SendNotices => "sends notifications by e-mail, SMS and push",
            Job::Announce => "announces changed shows, reminds of openings and shows",
            Job::DeliverWebhooks => "delivers messages to organisers' servers",
            Job::SettlePayments => "queries gateways about payments with an unknown outcome",
            Job::FollowDeposits => "closes virtual accounts that are overdue, asks about deposits",
            Job::MakeRefunds => "makes refunds that are due",
            Job::RefundCanceled => "refunds canceled dates",
            Job::FollowWebhooks => "processes gateway webhooks that are still pending",
            Job::ReconcileSeats => "compares the seat filter with the store",
            Job::UpdateScheduleStatuses => "updates the sale status of dates",
            Job::IndexNames => "makes new and changed names searchable",
            Job::OfferResales => "offers tickets that are given back to the standby list",
            Job::ForgetMessages => "deletes old messages, deduplication marks and idempotency keys",
            Job::ForgetRooms => "deletes waiting rooms a day after their concert",
            Job::ApplyRetention => "makes unused accounts dormant, erases withdrawn ones",
            Job::KeepLogins => "creates and drops the monthly partitions of logins",
            Job::EraseOldRecords => "erases purchases past their retention period",
            Job::VerifyInvariants => {
                "checks every invariant, stops the sale of a date that violates one"
            }
            Job::SampleSales => "records the figures of running sales",
        }
    }

    pub fn named(name: &str) -> Option<Job> {
        Job::ALL.into_iter().find(|job| job.name() == name)
    }

    /// Whether one node leads the job, because several would only repeat its work. The other jobs
    /// share their work row by row, and admission is one atomic step.
    const fn is_led(self) -> bool {
        match self {
            Job::RelayMessages
            | Job::ReplayDeadLetters
            | Job::Draw
            | Job::OfferDrawn
            | Job::RefundCanceled
            | Job::ReconcileSeats
            | Job::IndexNames
            | Job::SampleSales
            | Job::VerifyInvariants => true,
            Job::AdmitFans
            | Job::ExpireHolds
            | Job::ReleaseKept
            | Job::OfferSeats
            | Job::OfferResales
            | Job::SendNotices
            | Job::Announce
            | Job::DeliverWebhooks
            | Job::SettlePayments
            | Job::FollowDeposits
            | Job::FollowWebhooks
            | Job::MakeRefunds
            | Job::UpdateScheduleStatuses
            // One node claims each day: see `run_daily`.
            | Job::ForgetMessages
            | Job::ForgetRooms
            | Job::ApplyRetention
            | Job::KeepLogins
            | Job::EraseOldRecords => false,
        }
    }

    async fn run(
        self,
        context: &AppContext,
        lease: Option<Lease>,
        now: Timestamp,
    ) -> podo_app::Result<Round> {
        match self {
            Job::AdmitFans => podo_app::waiting_room::jobs::admit_fans(context, now).await,
            Job::ExpireHolds => podo_app::booking::jobs::expire::expire_holds(context, now).await,
            Job::ReleaseKept => podo_app::booking::jobs::release::release_kept(context, now).await,
            Job::OfferSeats => podo_app::booking::jobs::offer::offer_seats(context, now).await,
            Job::Draw => podo_app::booking::jobs::draw::draw(context, now).await,
            Job::OfferDrawn => podo_app::booking::jobs::draw::offer_drawn(context, now).await,
            Job::RelayMessages => relay_messages(context, now).await,
            Job::ReplayDeadLetters => {
                podo_app::messaging::jobs::replay::replay_dead_letters(context, now).await
            }
            Job::SendNotices => podo_app::messaging::jobs::notify::send_notices(context, now).await,
            Job::Announce => podo_app::messaging::jobs::announce::announce(context, now).await,
            Job::DeliverWebhooks => {
                podo_app::messaging::jobs::deliver::deliver_webhooks(context, now).await
            }
            Job::SettlePayments => money::settle::settle_unknown_payments(context, now).await,
            Job::FollowDeposits => money::deposits::follow_deposits(context, now).await,
            Job::MakeRefunds => money::refund::make_refunds(context, now).await,
            Job::RefundCanceled => {
                money::refund_canceled::refund_canceled_shows(context, now).await
            }
            Job::FollowWebhooks => money::gateway_webhooks::follow_webhooks(context, now).await,
            Job::ReconcileSeats => {
                podo_app::booking::jobs::reconcile::reconcile_seats(context, lease, now).await
            }
            Job::UpdateScheduleStatuses => update_schedule_statuses(context, now).await,
            Job::IndexNames => podo_app::identity::support::names::index_names(context, now).await,
            Job::OfferResales => podo_app::tickets::resales::offer_resales(context, now).await,
            Job::ForgetMessages => {
                podo_app::operations::retention::cleanup::forget_messages(context, now).await
            }
            Job::ForgetRooms => {
                podo_app::operations::retention::cleanup::forget_rooms(context, now).await
            }
            Job::ApplyRetention => {
                podo_app::operations::retention::cleanup::apply_retention(context, now).await
            }
            Job::KeepLogins => {
                podo_app::operations::retention::cleanup::apply_login_retention(context, now).await
            }
            Job::EraseOldRecords => {
                podo_app::operations::retention::erasure::erase_old_records(context, now).await
            }
            Job::VerifyInvariants => {
                podo_app::operations::verification::hourly::verify_invariants(context, now).await
            }
            Job::SampleSales => podo_app::waiting_room::jobs::sample_sales(context, now).await,
        }
    }
}

/// How often a node checks whether a daily job is due.
const LOOK_EVERY: Duration = Duration::from_secs(20);

/// Runs one round on demand, whichever node leads: overlapping rounds are harmless.
pub async fn run_by_hand(context: &AppContext, job: Job) -> podo_app::Result<Round> {
    let now = context.now();
    let outcome = job.run(context, None, now).await;
    note(context, job, now, &outcome).await;
    outcome
}

/// Runs a job until shutdown.
pub async fn run_job(context: Arc<AppContext>, tasks: Tasks, schedule: Schedule) {
    match schedule.timing {
        Timing::Every(pause) => run_often(&context, &tasks, schedule.job, pause).await,
        Timing::Daily { hour } => run_daily(&context, &tasks, schedule.job, hour).await,
    }
}

/// Runs rounds with a pause in between. The next round follows a full one immediately.
async fn run_often(context: &AppContext, tasks: &Tasks, job: Job, pause: Duration) {
    let name = job.name();
    let mut leadership = job.is_led().then(|| Leadership::of(name, pause));
    let mut notes = Notes::default();
    while !tasks.is_stopping() {
        let now = context.now();
        let outcome = match run_round(context, job, leadership.as_mut(), now).await {
            Ok(Some(round)) => Ok(round),
            Ok(None) => {
                tasks.pause(pause).await;
                continue;
            }
            Err(error) => Err(error),
        };
        if notes.are_due(&outcome, now) {
            note(context, job, now, &outcome).await;
        }
        let is_quiet = outcome.as_ref().is_ok_and(|round| round.done + round.failed == 0);
        if count(context, job, &outcome) {
            continue;
        }
        match (job, is_quiet) {
            (Job::RelayMessages, true) => wait_for_messages(context, tasks, pause).await,
            (Job::RelayMessages, false) => tasks.pause(pause.min(GATHER)).await,
            _ => tasks.pause(pause).await,
        }
    }
    if let Some(leadership) = leadership
        && let Err(error) = leadership.give_up(context).await
    {
        tracing::warn!(job = name, %error, "Could not release the lease of {name}; it expires");
    }
}

/// How long the relay gathers messages between rounds while messages arrive.
const GATHER: Duration = Duration::from_millis(100);

/// An idle relay publishes the first message at once; a busy one keeps its pause, so that batches
/// grow.
async fn wait_for_messages(context: &AppContext, tasks: &Tasks, pause: Duration) {
    tokio::select! {
        () = tasks.pause(pause) => {}
        () = context.store.written() => {}
    }
}

/// Runs a round unless another node leads the job.
async fn run_round(
    context: &AppContext,
    job: Job,
    leadership: Option<&mut Leadership>,
    now: Timestamp,
) -> podo_app::Result<Option<Round>> {
    let Some(leadership) = leadership else { return job.run(context, None, now).await.map(Some) };
    match leadership.lease(context, now).await? {
        Some(lease) => job.run(context, Some(lease), now).await.map(Some),
        None => Ok(None),
    }
}

/// Runs rounds until nothing is left, on the node that claims the day.
async fn run_daily(context: &AppContext, tasks: &Tasks, job: Job, hour: u8) {
    while !tasks.is_stopping() {
        let due_at = last_at(hour, context.now());
        match context.store.claim_run(job.name(), due_at).await {
            Ok(true) => run_until_done(context, tasks, job).await,
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(job = job.name(), %error, "Could not claim the daily job; retrying");
            }
        }
        tasks.pause(LOOK_EVERY).await;
    }
}

async fn run_until_done(context: &AppContext, tasks: &Tasks, job: Job) {
    let mut total = Round::default();
    let started_at = context.now();
    while !tasks.is_stopping() {
        let outcome = job.run(context, None, context.now()).await;
        let is_full = count(context, job, &outcome);
        match outcome {
            Ok(round) => {
                total.done += round.done;
                total.failed += round.failed;
            }
            Err(_) => return note(context, job, started_at, &outcome).await,
        }
        if !is_full {
            break;
        }
    }
    note(context, job, started_at, &Ok(total)).await;
}

/// The most recent time at which it was this hour in UTC.
fn last_at(hour: u8, now: Timestamp) -> Timestamp {
    const HOUR_MS: i64 = 60 * 60 * 1_000;
    const DAY_MS: i64 = 24 * HOUR_MS;
    let offset = i64::from(hour) * HOUR_MS;
    let days = (now.ms() - offset).div_euclid(DAY_MS);
    Timestamp::from_ms(days * DAY_MS + offset)
}

/// Counts and logs a round; true if the next one should follow immediately.
fn count(context: &AppContext, job: Job, outcome: &podo_app::Result<Round>) -> bool {
    let name = job.name();
    match outcome {
        Ok(round) => {
            context.operations.job_rounds.add(name, *round);
            if round.done + round.failed > 0 {
                let (done, failed) = (round.done, round.failed);
                tracing::debug!(job = name, done, failed, "Finished a round of {name}");
            }
            round.is_full
        }
        Err(error) => {
            context.operations.job_rounds.add(name, Round { failed: 1, ..Round::default() });
            tracing::error!(job = name, %error, "A round of {name} failed; retrying");
            false
        }
    }
}

/// When the last round was recorded: idle rounds are recorded rarely, busy ones at most once a
/// second.
#[derive(Default)]
struct Notes {
    at: Option<Timestamp>,
}

impl Notes {
    fn are_due(&mut self, outcome: &podo_app::Result<Round>, now: Timestamp) -> bool {
        let is_quiet = outcome.as_ref().is_ok_and(|round| round.done + round.failed == 0);
        let least = Duration::from_secs(if is_quiet { 30 } else { 1 });
        let are_due = self.at.is_none_or(|at| at.plus(least) <= now);
        if are_due {
            self.at = Some(now);
        }
        are_due
    }
}

/// Records the round for the admin pages. A lost record does no harm.
async fn note(
    context: &AppContext,
    job: Job,
    started_at: Timestamp,
    outcome: &podo_app::Result<Round>,
) {
    let round = outcome.as_ref().copied().unwrap_or_default();
    let run = JobRun {
        job: job.name().to_owned(),
        node: context.node,
        started_at,
        finished_at: context.now(),
        done: round.done,
        failed: round.failed,
        error: outcome.as_ref().err().map(ToString::to_string),
    };
    if let Err(error) = context.store.note_run(run).await {
        tracing::debug!(job = job.name(), %error, "Could not record a round");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_control_room_describes_every_job_in_both_languages() {
        let path = format!("{}/../../web/admin/words/jobs.js", env!("CARGO_MANIFEST_DIR"));
        let words = std::fs::read_to_string(path).unwrap();
        let (korean, english) = words.split_once("export const en").unwrap();
        let words = [korean, english];
        for (job, words) in Job::ALL.iter().flat_map(|job| words.map(|it| (job, it))) {
            let name = job.name();
            let is_there = [format!("\n  {name}: "), format!("\n  \"{name}\": ")]
                .iter()
                .any(|key| words.contains(key.as_str()));
            assert!(is_there, "web/admin/words/jobs.js doesn't describe `{name}`");
        }
    }

    #[test]
    fn names_lead_back_to_their_job() {
        for job in Job::ALL {
            assert_eq!(Job::named(job.name()), Some(job));
        }
    }

    #[test]
    fn the_last_two_o_clock_is_today_or_yesterday() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let due = at("2026-11-16T02:00:00Z");
        assert_eq!(last_at(2, due), due);
        assert_eq!(last_at(2, at("2026-11-16T23:59:59Z")), due);
        assert_eq!(last_at(2, at("2026-11-17T01:59:59Z")), due);
    }

    #[test]
    fn quiet_rounds_are_noted_seldom_and_busy_ones_once_a_second() {
        let (mut notes, at) = (Notes::default(), Timestamp::from_ms);
        let (quiet, busy) = (Ok(Round::default()), Ok(Round { done: 1, ..Round::default() }));
        assert!(notes.are_due(&quiet, at(0)));
        assert!(!notes.are_due(&quiet, at(29_999)));
        assert!(notes.are_due(&busy, at(29_999)));
        assert!(!notes.are_due(&busy, at(30_500)));
        assert!(notes.are_due(&Err(podo_app::Error::broken("x")), at(30_999)));
    }
}
