//! Forgets what nobody needs any more. Each is a job of its own with its time of day.

use super::{RETENTION, Round, put_off};
use crate::error::{Error, Result};
use crate::platform::Platform;
use domain::Timestamp;
use domain::accounts::{DORMANT_AFTER, ERASED_AFTER};
use std::time::Duration;

const ROUND_MAX: u32 = 1_000;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Published messages after 7 days, what was done about them after 30 (marks of workers, letters that
/// were sent, deliveries, dead letters that were settled, gateways' webhooks), after 3 the
/// idempotency keys that no money hangs on.
pub async fn forget_messages(platform: &Platform, now: Timestamp) -> Result<Round> {
    let (week, month) = (now.minus(DAY * 7), now.minus(DAY * 30));
    let store = &platform.store;
    let mut round = Round::default();
    let forgotten = store.forget_messages(week, month, ROUND_MAX).await;
    count(&mut round, "messages", forgotten);
    count(&mut round, "keys", store.forget_keys(now.minus(DAY * 3), ROUND_MAX).await);
    count(&mut round, "webhooks", store.forget_webhooks(month, ROUND_MAX).await);
    count(&mut round, "failures", store.forget_failures(now.minus(DAY), ROUND_MAX).await);
    Ok(round)
}

/// Waiting rooms a day after their concert. The store goes on knowing who was let in. A round that
/// failed is made up for within a week; after that even Redis has forgotten the room by itself.
pub async fn forget_rooms(platform: &Platform, now: Timestamp) -> Result<Round> {
    let mut round = Round::default();
    for schedule in platform.store.schedules_ended(now.minus(DAY * 8), now.minus(DAY)).await? {
        match platform.queue.remove(schedule).await {
            Ok(()) => round.done += 1,
            Err(error) => {
                tracing::warn!(schedule.id = %schedule, %error, "A waiting room is not removed");
                round.failed += 1;
            }
        }
        platform.progress.forget(schedule);
        platform.waits.forget(schedule);
    }
    Ok(round)
}

/// Sign-ups that nobody confirmed; who somebody was, a month after they withdrew; the log of the
/// waiting rooms after the time that the operator chose. Accounts that nobody uses sleep.
pub async fn keep_less(platform: &Platform, now: Timestamp) -> Result<Round> {
    let store = &platform.store;
    let mut round = Round::default();
    erase_withdrawn(platform, &mut round, now).await?;
    let asleep = store.make_dormant(now.minus(DORMANT_AFTER), ROUND_MAX, now).await;
    count(&mut round, "sleeping accounts", asleep);
    count(&mut round, "sign-ups", store.forget_sign_ups(now, ROUND_MAX).await);
    if let Some(kept_for) = platform.rules.queue_log_for {
        let forgotten = store.forget_queue_events(now.minus(kept_for), ROUND_MAX).await;
        count(&mut round, "events of waiting rooms", forgotten);
    }
    Ok(round)
}

/// Log-ins after the time that the operator chose; the months to come get their partitions.
pub async fn keep_logins(platform: &Platform, now: Timestamp) -> Result<Round> {
    let before = now.minus(platform.rules.logins_for);
    let kept = platform.store.keep_logins(before, ROUND_MAX, now).await?;
    if kept.made + kept.dropped > 0 {
        tracing::info!(made = kept.made, dropped = kept.dropped, "Months of log-ins changed");
    }
    Ok(Round {
        done: kept.made + kept.dropped + kept.deleted,
        failed: 0,
        is_full: kept.deleted >= u64::from(ROUND_MAX),
    })
}

/// All at once; if that fails, one by one, and what is to blame is put off.
async fn erase_withdrawn(platform: &Platform, round: &mut Round, now: Timestamp) -> Result<()> {
    let (store, before) = (&platform.store, now.minus(ERASED_AFTER));
    match store.erase_withdrawn(before, ROUND_MAX, now).await {
        erased @ (Ok(_) | Err(Error::Unavailable(_))) => count(round, "accounts", erased),
        Err(_) => {
            for user in store.withdrawn(before, ROUND_MAX, now).await? {
                match store.erase(user, now).await {
                    Ok(()) => round.done += 1,
                    Err(error) => {
                        put_off(platform, RETENTION, user.uuid(), &error).await?;
                        round.failed += 1;
                    }
                }
            }
        }
    }
    Ok(())
}

/// What one kind of rows came to. One that fails keeps no other from being forgotten.
pub(super) fn count(round: &mut Round, what: &'static str, forgotten: Result<u64>) {
    match forgotten {
        Ok(n_rows) => {
            round.done += n_rows;
            round.is_full |= n_rows >= u64::from(ROUND_MAX);
        }
        Err(error) => {
            tracing::error!(what, %error, "Old rows are not forgotten; the next round tries again");
            round.failed += 1;
        }
    }
}
