//! The course and the outcome of a sale, for organisers.

use crate::catalog::port::{GradeSales, ScheduleRecord};
use crate::context::AppContext;
use crate::error::Result;
use crate::waiting_room::port::samples::{STEPS_S, SaleOutcome, SaleSample};
use podo_domain::{Refusal, ScheduleId, Timestamp, Won};
use serde::Serialize;
use utoipa::ToSchema;

/// A page draws no more points than this.
const POINTS_MAX: i64 = 720;

/// The figures of a sale over time. A gap means that nothing happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Course {
    /// The time between two samples.
    pub step_seconds: i64,
    /// Oldest first.
    pub items: Vec<SaleSample>,
}

/// What a sale led to, by grade and in total.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SaleReport {
    #[serde(flatten)]
    pub outcome: SaleOutcome,
    /// Admissions by the waiting room, in all phases.
    pub admitted: u64,
    /// The most fans who waited at one moment, of those that were sampled.
    pub peak_waiting: u64,
    pub peak_inside: u64,
    /// The first sampled moment without a free or held seat.
    pub sold_out_at: Option<Timestamp>,
    pub available: u32,
    pub held: u32,
    pub sold: u32,
    pub revenue: Won,
    pub grades: Vec<GradeReport>,
    pub now: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GradeReport {
    pub grade: String,
    pub available: u32,
    pub held: u32,
    pub sold: u32,
    /// Kept from sale by allocations.
    pub kept: u32,
    pub revenue: Won,
}

impl From<&GradeSales> for GradeReport {
    fn from(sales: &GradeSales) -> GradeReport {
        let GradeSales { grade, available, held, sold, kept, revenue } = sales.clone();
        GradeReport { grade, available, held, sold, kept, revenue }
    }
}

/// The samples of this period, or of the whole sale, in the shortest step that fits on a page.
pub async fn course(
    context: &AppContext,
    schedule: ScheduleId,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
) -> Result<Course> {
    context.store.schedule(schedule).await?.ok_or(Refusal::NotFound)?;
    let period = context.store.sampled_period(schedule).await?;
    let (first, last) = period.unwrap_or((context.now(), context.now()));
    let (from, to) = (from.unwrap_or(first).max(first), to.unwrap_or(last).min(last));
    let step_seconds = step_for(from, to);
    let items = context.store.samples(schedule, from, to, step_seconds).await?;
    Ok(Course { step_seconds, items })
}

fn step_for(from: Timestamp, to: Timestamp) -> i64 {
    let seconds = (to.ms() - from.ms()).max(0) / 1_000;
    let fits = |step_s: &i64| seconds / step_s <= POINTS_MAX;
    STEPS_S.into_iter().find(fits).unwrap_or(STEPS_S[STEPS_S.len() - 1])
}

pub async fn sale_report(context: &AppContext, schedule: ScheduleId) -> Result<SaleReport> {
    let now = context.now();
    let record = context.store.schedule(schedule).await?.ok_or(Refusal::NotFound)?;
    let outcome = context.store.sale_outcome(schedule).await?;
    let admitted = n_admitted(context, &record).await?;
    let grades = context.store.seats_by_grade(schedule, now).await?;
    let samples = match context.store.sampled_period(schedule).await? {
        Some((first, last)) => context.store.samples(schedule, first, last, STEPS_S[0]).await?,
        None => Vec::new(),
    };
    let is_sold_out = |it: &&SaleSample| it.available + it.held == 0 && 0 < it.sold;
    let sum = |of: fn(&GradeSales) -> u32| grades.iter().map(of).sum();
    Ok(SaleReport {
        outcome,
        admitted,
        peak_waiting: samples.iter().map(|it| it.waiting).max().unwrap_or(0),
        peak_inside: samples.iter().map(|it| it.inside).max().unwrap_or(0),
        sold_out_at: samples.iter().find(is_sold_out).map(|it| it.at),
        available: sum(|grade| grade.available),
        held: sum(|grade| grade.held),
        sold: sum(|grade| grade.sold),
        revenue: Won::sum(grades.iter().map(|grade| grade.revenue)).unwrap_or(Won::MAX),
        grades: grades.iter().map(GradeReport::from).collect(),
        now,
    })
}

async fn n_admitted(context: &AppContext, record: &ScheduleRecord) -> Result<u64> {
    let mut sum = 0;
    for room in record.rooms() {
        sum += context.store.n_admitted(room.schedule).await?;
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_period_has_longer_steps() {
        let at = |seconds: i64| Timestamp::from_ms(seconds * 1_000);
        assert_eq!(step_for(at(0), at(7_200)), 10);
        assert_eq!(step_for(at(0), at(7_300)), 60);
        assert_eq!(step_for(at(0), at(86_400)), 600);
        assert_eq!(step_for(at(0), at(3_600_000)), 3_600);
        assert_eq!(step_for(at(10), at(0)), 10);
    }
}
