//! Refund policies: what an event retains of a canceled ticket, by days before the show, with free
//! cancellation right after the booking.
//!
//! Days are calendar days where the venue is, as people count them.

mod grace;
#[cfg(test)]
mod tests;

pub use grace::{Grace, GraceUnit, LastMoment};

use crate::{Refusal, Timestamp, Won};
use serde::{Deserialize, Serialize};

/// Most steps in a policy.
const STEPS_MAX: usize = 10;

/// The most that an event may retain: a part is always refunded.
pub const FEE_PERCENT_MAX: u32 = 90;

/// Earliest step: no seats are sold two years ahead.
const DAYS_MAX: u32 = 730;

/// From `days_before` days before the show on, this much of the price is retained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FeeStep {
    pub days_before: u32,
    /// With `fee_amount` the most that is retained.
    pub fee_percent: u32,
    /// A fixed fee for each ticket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fee_amount: Option<Won>,
}

impl FeeStep {
    pub const fn percent(days_before: u32, fee_percent: u32) -> FeeStep {
        FeeStep { days_before, fee_percent, fee_amount: None }
    }

    const fn retained(&self) -> Retained {
        Retained { percent: self.fee_percent, amount: self.fee_amount }
    }
}

/// An event's terms: steps from the earliest to the latest. After the last step's days nothing can
/// be canceled; without steps everything is refunded until the show begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RefundPolicy {
    pub steps: Vec<FeeStep>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace: Option<Grace>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_moment: Option<LastMoment>,
}

/// What is kept of the price of a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retained {
    /// With `amount` the most that is kept.
    pub percent: u32,
    pub amount: Option<Won>,
}

impl Retained {
    pub const NOTHING: Retained = Retained { percent: 0, amount: None };

    pub const fn percent(percent: u32) -> Retained {
        Retained { percent, amount: None }
    }

    /// Rounded in the fan's favour.
    pub fn of(self, price: Won) -> Won {
        let most = price.get() * i64::from(self.percent.min(FEE_PERCENT_MAX)) / 100;
        let kept = self.amount.map_or(most, |amount| amount.get().min(most));
        Won::new(kept).expect("a part of a price is a price")
    }
}

/// The moments that decide about a cancellation.
#[derive(Clone, Copy, Debug)]
pub struct CancelMoment<'z> {
    pub booked_at: Timestamp,
    pub starts_at: Timestamp,
    pub now: Timestamp,
    /// The venue's IANA time zone.
    pub zone: &'z str,
}

impl CancelMoment<'_> {
    fn days_left(&self) -> i64 {
        self.starts_at.day_number(self.zone) - self.now.day_number(self.zone)
    }
}

/// What the policy says at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyTerms {
    pub retained: Retained,
    /// Whether all fees go back; otherwise their own rules decide.
    pub refunds_fees: bool,
}

/// Days with the same fee, as a table shows them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RefundPeriod {
    /// `2026-03-21`, where the venue is. Absent if it has begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The last day.
    pub until: String,
    pub fee_percent: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fee_amount: Option<Won>,
}

impl RefundPolicy {
    /// Days must decrease and fees must not, so that waiting never pays off.
    pub fn check(&self) -> Result<(), Refusal> {
        let wrong = |field: String| Err(Refusal::InvalidPolicy { field });
        if self.steps.len() > STEPS_MAX {
            return wrong("steps".into());
        }
        for (at, step) in self.steps.iter().enumerate() {
            let before = at.checked_sub(1).map(|at| &self.steps[at]);
            if let Some(field) = wrong_field(step, before) {
                return wrong(format!("steps[{at}].{field}"));
            }
        }
        if let Some(field) = self.grace.as_ref().and_then(Grace::wrong_field) {
            return wrong(format!("grace.{field}"));
        }
        match self.last_moment {
            Some(last) if last.days_before > DAYS_MAX => wrong("lastMoment.daysBefore".into()),
            Some(last) if last.hour > 23 => wrong("lastMoment.hour".into()),
            Some(_) | None => Ok(()),
        }
    }

    /// What is retained at this moment, or a refusal if it's too late.
    pub fn terms(&self, moment: &CancelMoment<'_>) -> Result<PolicyTerms, Refusal> {
        let is_late = |last: &LastMoment| last.is_over(moment);
        if moment.starts_at <= moment.now || self.last_moment.as_ref().is_some_and(is_late) {
            return Err(Refusal::CancelClosed);
        }
        let days_left = moment.days_left();
        let is_over = self.steps.last().is_some_and(|last| days_left < i64::from(last.days_before));
        if is_over {
            return Err(Refusal::CancelClosed);
        }
        if let Some(grace) = self.grace.filter(|grace| grace.holds(moment)) {
            let refunds_fees = grace.refunds_fees;
            return Ok(PolicyTerms { retained: Retained::NOTHING, refunds_fees });
        }
        // Before the first step canceling is free of charge.
        let reached = |step: &&FeeStep| days_left <= i64::from(step.days_before);
        let step = self.steps.iter().rev().find(reached);
        let retained = step.map_or(Retained::NOTHING, FeeStep::retained);
        Ok(PolicyTerms { retained, refunds_fees: false })
    }

    /// The periods from today on, for a show that starts at this moment. Empty if everything is
    /// refunded until it begins, or nothing is any more.
    pub fn periods(&self, starts_at: Timestamp, now: Timestamp, zone: &str) -> Vec<RefundPeriod> {
        let today = now.day_before(0, zone);
        let mut periods = self.all_periods(starts_at, zone);
        periods.retain(|period| today <= period.until);
        if let Some(first) = periods.first_mut() {
            first.from.take_if(|from| *from <= today);
        }
        periods
    }

    fn all_periods(&self, starts_at: Timestamp, zone: &str) -> Vec<RefundPeriod> {
        let day = |days_before: u32| starts_at.day_before(days_before, zone);
        let Some(first) = self.steps.first() else { return Vec::new() };
        let ends = self.steps.iter().skip(1).map(|next| next.days_before + 1);
        let last = self.steps.last().map(|last| last.days_before);
        let free = RefundPeriod {
            from: None,
            until: day(first.days_before + 1),
            fee_percent: 0,
            fee_amount: None,
        };
        let paid = self.steps.iter().zip(ends.chain(last)).map(|(step, end)| RefundPeriod {
            from: Some(day(step.days_before)),
            until: day(end),
            fee_percent: step.fee_percent,
            fee_amount: step.fee_amount,
        });
        std::iter::once(free).chain(paid).collect()
    }
}

fn wrong_field(step: &FeeStep, before: Option<&FeeStep>) -> Option<&'static str> {
    let is_amount_odd = match (step.fee_amount, before.and_then(|before| before.fee_amount)) {
        (Some(amount), _) if amount.is_zero() || step.fee_percent == 0 => true,
        (Some(amount), Some(earlier)) => amount < earlier,
        // After a bare percentage a fixed fee could be less.
        (Some(_), None) => before.is_some_and(|before| before.fee_percent > 0),
        (None, _) => false,
    };
    if step.days_before > DAYS_MAX
        || before.is_some_and(|before| before.days_before <= step.days_before)
    {
        Some("daysBefore")
    } else if step.fee_percent > FEE_PERCENT_MAX
        || before.is_some_and(|before| step.fee_percent < before.fee_percent)
    {
        Some("feePercent")
    } else {
        is_amount_odd.then_some("feeAmount")
    }
}
