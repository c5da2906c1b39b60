//! The jobs: what runs when, on which nodes, and how the last round went.

use crate::tasks::Tasks;
use app::Platform;
use app::jobs::{self as rounds, Round};
use app::leases::Leadership;
use app::ports::job_runs::JobRun;
use app::ports::leases::Lease;
use domain::Timestamp;
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
    /// Once a day, at this hour in UTC; a day that was missed is made up for at the next start.
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
    OfferSeats,
    RelayMessages,
    ReplayDeadLetters,
    SendNotices,
    DeliverWebhooks,
    SettlePayments,
    MakeRefunds,
    RefundCanceled,
    FollowWebhooks,
    ReconcileSeats,
    UpdateScheduleStatuses,
    ForgetMessages,
    ForgetRooms,
    KeepLess,
    KeepLogins,
    EraseOldRecords,
    VerifyPromises,
}

impl Job {
    pub const ALL: [Job; 19] = [
        Job::AdmitFans,
        Job::ExpireHolds,
        Job::OfferSeats,
        Job::RelayMessages,
        Job::ReplayDeadLetters,
        Job::SendNotices,
        Job::DeliverWebhooks,
        Job::SettlePayments,
        Job::MakeRefunds,
        Job::RefundCanceled,
        Job::FollowWebhooks,
        Job::ReconcileSeats,
        Job::UpdateScheduleStatuses,
        Job::ForgetMessages,
        Job::ForgetRooms,
        Job::KeepLess,
        Job::KeepLogins,
        Job::EraseOldRecords,
        Job::VerifyPromises,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Job::AdmitFans => "admit",
            Job::ExpireHolds => "expire",
            Job::OfferSeats => "offer",
            Job::RelayMessages => "relay",
            Job::ReplayDeadLetters => "replay",
            Job::SendNotices => "notify",
            Job::DeliverWebhooks => "deliver",
            Job::SettlePayments => "settle",
            Job::MakeRefunds => "refund",
            Job::RefundCanceled => "refund-canceled",
            Job::FollowWebhooks => "webhooks",
            Job::ReconcileSeats => "reconcile",
            Job::UpdateScheduleStatuses => "schedule-status",
            Job::ForgetMessages => "clean-messages",
            Job::ForgetRooms => "clean-queues",
            Job::KeepLess => "retention",
            Job::KeepLogins => "login-history",
            Job::EraseOldRecords => "payment-retention",
            Job::VerifyPromises => "verify",
        }
    }

    pub const fn about(self) -> &'static str {
        match self {
            Job::AdmitFans => "lets waiting fans in",
            Job::ExpireHolds => "gives back seats whose hold ran out",
            Job::OfferSeats => "offers returned seats to those who stand by",
            Job::RelayMessages => "publishes the outbox",
            Job::ReplayDeadLetters => "tries messages again that an organiser replays",
            Job::SendNotices => "sends letters by e-mail, SMS and push",
            Job::DeliverWebhooks => "delivers messages to organisers' servers",
            Job::SettlePayments => "asks gateways about payments without an answer",
            Job::MakeRefunds => "gives money back that is due",
            Job::RefundCanceled => "refunds canceled dates",
            Job::FollowWebhooks => "follows gateways' webhooks that nobody followed",
            Job::ReconcileSeats => "compares the seats' filter with the store",
            Job::UpdateScheduleStatuses => "updates the sale status of dates",
            Job::ForgetMessages => "forgets old messages, marks and keys",
            Job::ForgetRooms => "forgets waiting rooms a day after their concert",
            Job::KeepLess => "puts unused accounts to sleep, erases withdrawn ones",
            Job::KeepLogins => "makes and drops the months of log-ins",
            Job::EraseOldRecords => "erases purchases whose records were kept long enough",
            Job::VerifyPromises => {
                "asks for every promise, stops the sale of a date that breaks one"
            }
        }
    }

    pub fn named(name: &str) -> Option<Job> {
        Job::ALL.into_iter().find(|job| job.name() == name)
    }

    /// What several nodes would only do twice. The others are made for many hands: they share the
    /// work row by row, and admission is one atomic step.
    const fn is_led(self) -> bool {
        match self {
            Job::RelayMessages
            | Job::ReplayDeadLetters
            | Job::RefundCanceled
            | Job::ReconcileSeats
            | Job::VerifyPromises => true,
            Job::AdmitFans
            | Job::ExpireHolds
            | Job::OfferSeats
            | Job::SendNotices
            | Job::DeliverWebhooks
            | Job::SettlePayments
            | Job::FollowWebhooks
            | Job::MakeRefunds
            | Job::UpdateScheduleStatuses
            // Taken by the day: see `run_daily`.
            | Job::ForgetMessages
            | Job::ForgetRooms
            | Job::KeepLess
            | Job::KeepLogins
            | Job::EraseOldRecords => false,
        }
    }

    async fn run(
        self,
        platform: &Platform,
        lease: Option<Lease>,
        now: Timestamp,
    ) -> app::Result<Round> {
        match self {
            Job::AdmitFans => rounds::admit_fans(platform, now).await,
            Job::ExpireHolds => rounds::expire_holds(platform, now).await,
            Job::OfferSeats => rounds::offer_seats(platform, now).await,
            Job::RelayMessages => rounds::relay_messages(platform, now).await,
            Job::ReplayDeadLetters => rounds::replay_dead_letters(platform, now).await,
            Job::SendNotices => rounds::send_notices(platform, now).await,
            Job::DeliverWebhooks => rounds::deliver_webhooks(platform, now).await,
            Job::SettlePayments => rounds::settle_unknown_payments(platform, now).await,
            Job::MakeRefunds => rounds::make_refunds(platform, now).await,
            Job::RefundCanceled => rounds::refund_canceled_shows(platform, now).await,
            Job::FollowWebhooks => rounds::follow_webhooks(platform, now).await,
            Job::ReconcileSeats => rounds::reconcile_seats(platform, lease, now).await,
            Job::UpdateScheduleStatuses => rounds::update_schedule_statuses(platform, now).await,
            Job::ForgetMessages => rounds::forget_messages(platform, now).await,
            Job::ForgetRooms => rounds::forget_rooms(platform, now).await,
            Job::KeepLess => rounds::keep_less(platform, now).await,
            Job::KeepLogins => rounds::keep_logins(platform, now).await,
            Job::EraseOldRecords => rounds::erase_old_records(platform, now).await,
            Job::VerifyPromises => rounds::verify_promises(platform, now).await,
        }
    }
}

/// How often a node looks whether a daily job is due.
const LOOK_EVERY: Duration = Duration::from_secs(20);

/// Runs one round by hand, whoever leads: rounds are harmless when two nodes do them.
pub async fn run_by_hand(platform: &Platform, job: Job) -> app::Result<Round> {
    let now = platform.now();
    let outcome = job.run(platform, None, now).await;
    note(platform, job, now, &outcome).await;
    outcome
}

/// Runs a job until it is time to stop.
pub async fn run_job(platform: Arc<Platform>, tasks: Tasks, schedule: Schedule) {
    match schedule.timing {
        Timing::Every(pause) => run_often(&platform, &tasks, schedule.job, pause).await,
        Timing::Daily { hour } => run_daily(&platform, &tasks, schedule.job, hour).await,
    }
}

/// A round, a pause, the next round. A full round is followed by the next at once.
async fn run_often(platform: &Platform, tasks: &Tasks, job: Job, pause: Duration) {
    let name = job.name();
    let mut leadership = job.is_led().then(|| Leadership::of(name, pause));
    let mut notes = Notes::default();
    while !tasks.is_stopping() {
        let now = platform.now();
        let outcome = match run_round(platform, job, leadership.as_mut(), now).await {
            Ok(Some(round)) => Ok(round),
            Ok(None) => {
                tasks.pause(pause).await;
                continue;
            }
            Err(error) => Err(error),
        };
        if notes.are_due(&outcome, now) {
            note(platform, job, now, &outcome).await;
        }
        let is_quiet = outcome.as_ref().is_ok_and(|round| round.done + round.failed == 0);
        if count(platform, job, &outcome) {
            continue;
        }
        match (job, is_quiet) {
            (Job::RelayMessages, true) => wait_for_messages(platform, tasks, pause).await,
            (Job::RelayMessages, false) => tasks.pause(pause.min(GATHER)).await,
            _ => tasks.pause(pause).await,
        }
    }
    if let Some(leadership) = leadership
        && let Err(error) = leadership.give_up(platform).await
    {
        tracing::warn!(job = name, %error, "The lead of {name} ends by itself");
    }
}

/// How long the relay lets messages gather while there are some.
const GATHER: Duration = Duration::from_millis(100);

/// The first message after a quiet time is published at once; while there are many, the relay's own
/// pace makes larger batches of them.
async fn wait_for_messages(platform: &Platform, tasks: &Tasks, pause: Duration) {
    tokio::select! {
        () = tasks.pause(pause) => {}
        () = platform.store.written() => {}
    }
}

/// A round, unless another node leads the job.
async fn run_round(
    platform: &Platform,
    job: Job,
    leadership: Option<&mut Leadership>,
    now: Timestamp,
) -> app::Result<Option<Round>> {
    let Some(leadership) = leadership else { return job.run(platform, None, now).await.map(Some) };
    match leadership.lease(platform, now).await? {
        Some(lease) => job.run(platform, Some(lease), now).await.map(Some),
        None => Ok(None),
    }
}

/// Rounds until there is nothing left, on the node that takes the day's turn.
async fn run_daily(platform: &Platform, tasks: &Tasks, job: Job, hour: u8) {
    while !tasks.is_stopping() {
        let due_at = last_at(hour, platform.now());
        match platform.store.take_turn(job.name(), due_at).await {
            Ok(true) => run_until_done(platform, tasks, job).await,
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(job = job.name(), %error, "Nobody knows whose turn it is");
            }
        }
        tasks.pause(LOOK_EVERY).await;
    }
}

async fn run_until_done(platform: &Platform, tasks: &Tasks, job: Job) {
    let mut total = Round::default();
    let started_at = platform.now();
    while !tasks.is_stopping() {
        let outcome = job.run(platform, None, platform.now()).await;
        let is_full = count(platform, job, &outcome);
        match outcome {
            Ok(round) => {
                total.done += round.done;
                total.failed += round.failed;
            }
            Err(_) => return note(platform, job, started_at, &outcome).await,
        }
        if !is_full {
            break;
        }
    }
    note(platform, job, started_at, &Ok(total)).await;
}

/// The last time that it was this hour in UTC.
fn last_at(hour: u8, now: Timestamp) -> Timestamp {
    const HOUR_MS: i64 = 60 * 60 * 1_000;
    const DAY_MS: i64 = 24 * HOUR_MS;
    let offset = i64::from(hour) * HOUR_MS;
    let days = (now.ms() - offset).div_euclid(DAY_MS);
    Timestamp::from_ms(days * DAY_MS + offset)
}

/// Counts and logs a round; true when there is more to do at once.
fn count(platform: &Platform, job: Job, outcome: &app::Result<Round>) -> bool {
    let name = job.name();
    match outcome {
        Ok(round) => {
            platform.job_tallies.add(name, *round);
            if round.done + round.failed > 0 {
                let (done, failed) = (round.done, round.failed);
                tracing::debug!(job = name, done, failed, "A round of {name} is done");
            }
            round.is_full
        }
        Err(error) => {
            platform.job_tallies.add(name, Round { failed: 1, ..Round::default() });
            tracing::error!(job = name, %error, "A round of {name} failed; it is tried again");
            false
        }
    }
}

/// When the last round was noted: one that did nothing is noted seldom, a busy job not every time.
#[derive(Default)]
struct Notes {
    at: Option<Timestamp>,
}

impl Notes {
    fn are_due(&mut self, outcome: &app::Result<Round>, now: Timestamp) -> bool {
        let is_quiet = outcome.as_ref().is_ok_and(|round| round.done + round.failed == 0);
        let least = Duration::from_secs(if is_quiet { 30 } else { 1 });
        let are_due = self.at.is_none_or(|at| at.plus(least) <= now);
        if are_due {
            self.at = Some(now);
        }
        are_due
    }
}

/// For the admin pages; a note that is lost is no harm.
async fn note(platform: &Platform, job: Job, started_at: Timestamp, outcome: &app::Result<Round>) {
    let round = outcome.as_ref().copied().unwrap_or_default();
    let run = JobRun {
        job: job.name().to_owned(),
        node: platform.node,
        started_at,
        finished_at: platform.now(),
        done: round.done,
        failed: round.failed,
        error: outcome.as_ref().err().map(ToString::to_string),
    };
    if let Err(error) = platform.store.note_run(run).await {
        tracing::debug!(job = job.name(), %error, "A round was not noted");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_control_room_describes_every_job_in_both_languages() {
        let words = ["ko", "en"].map(|language| {
            let path =
                format!("{}/../../web/admin/words/{language}.js", env!("CARGO_MANIFEST_DIR"));
            std::fs::read_to_string(path).unwrap()
        });
        for (job, words) in Job::ALL.iter().flat_map(|job| words.each_ref().map(|it| (job, it))) {
            let name = job.name();
            let is_there = [format!("\n  {name}: "), format!("\n  \"{name}\": ")]
                .iter()
                .any(|key| words.contains(key.as_str()));
            assert!(is_there, "web/admin/words says nothing about `{name}`");
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
        assert!(notes.are_due(&Err(app::Error::broken("x")), at(30_999)));
    }
}
