//! Deletes data that is no longer needed. Each function is a job of its own with its time of day.

use crate::catalog::images::forget_images;
use crate::catalog::port::ScheduleRecord;
use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::operations::jobs::{RETENTION, Round, put_off};
use podo_domain::identity::{DORMANT_AFTER, ERASED_AFTER};
use podo_domain::{ScheduleId, Timestamp};
use std::time::Duration;

const ROUND_MAX: u32 = 1_000;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Deletes published messages after 7 days; what consumers did about them after 30 (worker marks,
/// sent notifications, deliveries, settled dead letters, gateway webhooks); and idempotency keys
/// that don't involve money after 3.
pub async fn forget_messages(context: &AppContext, now: Timestamp) -> Result<Round> {
    let (week, month) = (now.minus(DAY * 7), now.minus(DAY * 30));
    let store = &context.store;
    let mut round = Round::default();
    let forgotten = store.forget_messages(week, month, ROUND_MAX).await;
    count(&mut round, "messages", forgotten);
    count(&mut round, "keys", store.forget_keys(now.minus(DAY * 3), ROUND_MAX).await);
    count(&mut round, "webhooks", store.forget_webhooks(month, ROUND_MAX).await);
    count(&mut round, "announcements", store.forget_announcements(month, ROUND_MAX).await);
    count(&mut round, "failures", store.forget_failures(now.minus(DAY), ROUND_MAX).await);
    Ok(round)
}

/// Removes waiting rooms a day after their concert, and codes, member lists and applications
/// without an offer of its phases after a month; the store keeps the admissions. A failed round
/// is made up for within a week; after that even Redis has expired the room.
pub async fn forget_rooms(context: &AppContext, now: Timestamp) -> Result<Round> {
    let mut round = Round::default();
    for room in rooms_ended(context, now).await? {
        match context.waiting_room.queue.remove(room).await {
            Ok(()) => round.done += 1,
            Err(error) => {
                tracing::warn!(schedule.id = %room, %error, "Could not remove a waiting room");
                round.failed += 1;
            }
        }
        context.waiting_room.progress.forget(room);
        context.waiting_room.waits.forget(room);
    }
    // Again for a week, in case rounds failed.
    for schedule in context.store.schedules_ended(now.minus(DAY * 38), now.minus(DAY * 30)).await? {
        let forgotten = context.store.forget_phase_people(schedule, ROUND_MAX).await;
        count(&mut round, "codes and members of phases", forgotten);
        let forgotten = context.store.forget_applications(schedule, ROUND_MAX, now).await;
        count(&mut round, "applications for draws", forgotten);
    }
    Ok(round)
}

async fn rooms_ended(context: &AppContext, now: Timestamp) -> Result<Vec<ScheduleId>> {
    let mut rooms = Vec::new();
    for schedule in context.store.schedules_ended(now.minus(DAY * 8), now.minus(DAY)).await? {
        let record = context.store.schedule(schedule).await?;
        rooms.extend(record.iter().flat_map(ScheduleRecord::rooms).map(|room| room.schedule));
    }
    Ok(rooms)
}

/// Deletes unconfirmed sign-ups, expired links of tickets, bank accounts of refunds long made, pictures that no event shows, notes as
/// old as the purchases that are erased, the identity of withdrawn accounts after a month, and the
/// waiting-room log after the configured time. Unused accounts become dormant.
pub async fn apply_retention(context: &AppContext, now: Timestamp) -> Result<Round> {
    let store = &context.store;
    let mut round = Round::default();
    erase_withdrawn(context, &mut round, now).await?;
    let asleep = store.make_dormant(now.minus(DORMANT_AFTER), ROUND_MAX, now).await;
    count(&mut round, "dormant accounts", asleep);
    count(&mut round, "sign-ups", store.forget_sign_ups(now, ROUND_MAX).await);
    count(&mut round, "ticket links", store.forget_claims(now, ROUND_MAX).await);
    count(&mut round, "images", forget_images(context, now).await);
    let unused = store.forget_refund_accounts(now.minus(DAY * 90), ROUND_MAX).await;
    count(&mut round, "refund accounts", unused);
    let noted_before = now.minus(context.rules.records_for);
    count(&mut round, "notes", store.forget_notes(noted_before, ROUND_MAX).await);
    if let Some(kept_for) = context.rules.queue_log_for {
        let forgotten = store.forget_queue_events(now.minus(kept_for), ROUND_MAX).await;
        count(&mut round, "waiting-room events", forgotten);
    }
    Ok(round)
}

/// Deletes log-ins after the configured time, and creates the partitions of the coming months.
pub async fn apply_login_retention(context: &AppContext, now: Timestamp) -> Result<Round> {
    let before = now.minus(context.rules.logins_for);
    let kept = context.store.apply_login_retention(before, ROUND_MAX, now).await?;
    if kept.made + kept.dropped > 0 {
        tracing::info!(made = kept.made, dropped = kept.dropped, "Log-in partitions changed");
    }
    Ok(Round {
        done: kept.made + kept.dropped + kept.deleted,
        failed: 0,
        is_full: kept.deleted >= u64::from(ROUND_MAX),
    })
}

/// Erases all at once; if that fails, one by one, postponing the ones that fail.
async fn erase_withdrawn(context: &AppContext, round: &mut Round, now: Timestamp) -> Result<()> {
    let (store, before) = (&context.store, now.minus(ERASED_AFTER));
    match store.erase_withdrawn(before, ROUND_MAX, now).await {
        erased @ (Ok(_) | Err(Error::Unavailable(_))) => count(round, "accounts", erased),
        Err(_) => {
            for user in store.withdrawn(before, ROUND_MAX, now).await? {
                match store.erase(user, now).await {
                    Ok(()) => round.done += 1,
                    Err(error) => {
                        put_off(context, RETENTION, user.uuid(), &error).await?;
                        round.failed += 1;
                    }
                }
            }
        }
    }
    Ok(())
}

/// Adds the result for one kind of rows. A failure doesn't prevent the others from being deleted.
pub(crate) fn count(round: &mut Round, what: &'static str, forgotten: Result<u64>) {
    match forgotten {
        Ok(n_rows) => {
            round.done += n_rows;
            round.is_full |= n_rows >= u64::from(ROUND_MAX);
        }
        Err(error) => {
            tracing::error!(what, %error, "Could not delete old rows; the next round retries");
            round.failed += 1;
        }
    }
}
