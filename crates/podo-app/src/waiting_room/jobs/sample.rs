//! Records the figures of sales in which something happens.

use crate::context::AppContext;
use crate::error::Result;
use crate::operations::jobs::Round;
use crate::waiting_room::port::samples::{STEPS_S, SaleSample};
use podo_domain::{ScheduleId, Timestamp, Won};
use std::collections::BTreeSet;
use std::time::Duration;

/// Between two samples of a sale.
pub const SAMPLE_EVERY: Duration = Duration::from_secs(STEPS_S[0].unsigned_abs());

/// Samples the dates whose rooms have fans, and those that sold a moment ago: the last fan of a sale
/// is gone when the seat is sold. A date in which nothing happens costs nothing. A date that fails
/// is sampled again in the next round.
pub async fn sample_sales(context: &AppContext, now: Timestamp) -> Result<Round> {
    let busy = context.waiting_room.queue.busy(now).await?.rooms;
    let entered = context.store.schedules_entered(now).await?;
    let sold = context.store.dates_sold_since(now.minus(SAMPLE_EVERY * 2)).await?;
    let dates: BTreeSet<ScheduleId> =
        busy.into_iter().chain(entered).chain(sold).map(ScheduleId::date).collect();
    let at = Timestamp::from_ms(now.ms() - now.ms().rem_euclid(STEPS_S[0] * 1_000));
    let mut round = Round::default();
    let mut samples = Vec::new();
    for date in dates {
        match sample(context, date, at, now).await {
            Ok(sample) => samples.extend(sample.map(|it| (date, it))),
            Err(error) => {
                tracing::warn!(schedule.id = %date, %error, "Could not sample a sale");
                round.failed += 1;
            }
        }
    }
    context.store.add_samples(samples).await?;
    Ok(round)
}

async fn sample(
    context: &AppContext,
    date: ScheduleId,
    at: Timestamp,
    now: Timestamp,
) -> Result<Option<SaleSample>> {
    let Some(record) = context.store.schedule(date).await? else { return Ok(None) };
    let (mut waiting, mut inside) = (0, 0);
    for room in record.rooms() {
        let counts = context.waiting_room.queue.counts(room.schedule, now).await?;
        waiting += counts.gathered + counts.waiting;
        inside += counts.inside;
    }
    let grades = context.store.seats_by_grade(date, now).await?;
    Ok(Some(SaleSample {
        at,
        waiting,
        inside,
        available: grades.iter().map(|grade| grade.available).sum(),
        held: grades.iter().map(|grade| grade.held).sum(),
        sold: grades.iter().map(|grade| grade.sold).sum(),
        revenue: Won::sum(grades.iter().map(|grade| grade.revenue)).unwrap_or(Won::MAX),
    }))
}
