//! Refund policies: what an event retains of a canceled ticket, by days before the show, with free
//! cancellation right after the booking.
//!
//! Days are calendar days where the venue is, as people count them.

use crate::{Refusal, Timestamp, Won};
use serde::{Deserialize, Serialize};

/// Most steps in a policy.
const STEPS_MAX: usize = 10;

/// The most that an event may retain: a part is always refunded.
pub const FEE_PERCENT_MAX: u32 = 90;

/// Earliest step: no seats are sold two years ahead.
const DAYS_MAX: u32 = 730;

/// The longest grace: 30 days.
const GRACE_HOURS_MAX: u32 = 720;

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum GraceUnit {
    Hours,
    /// Calendar days; 0 ends at midnight of the booking day.
    Days,
}

/// Free cancellation for a while after the booking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Grace {
    pub unit: GraceUnit,
    pub length: u32,
    /// Only as long as the show is at least this many days away.
    pub days_before: u32,
    /// Whether booking and order fees go back too, whatever their own rule says.
    #[serde(default)]
    pub refunds_fees: bool,
}

/// Cancellation ends at this hour, before the steps do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LastMoment {
    pub days_before: u32,
    pub hour: u32,
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

impl Grace {
    fn wrong_field(&self) -> Option<&'static str> {
        let length_max = match self.unit {
            GraceUnit::Hours => GRACE_HOURS_MAX,
            GraceUnit::Days => GRACE_HOURS_MAX / 24,
        };
        let is_empty = self.unit == GraceUnit::Hours && self.length == 0;
        if is_empty || self.length > length_max {
            return Some("length");
        }
        (self.days_before > DAYS_MAX).then_some("daysBefore")
    }

    fn holds(&self, moment: &CancelMoment<'_>) -> bool {
        let is_recent = match self.unit {
            GraceUnit::Hours => {
                let hours = u64::from(self.length);
                moment.now < moment.booked_at.plus(std::time::Duration::from_secs(hours * 3_600))
            }
            GraceUnit::Days => {
                let day = |time: Timestamp| time.day_number(moment.zone);
                day(moment.now) - day(moment.booked_at) <= i64::from(self.length)
            }
        };
        is_recent && moment.days_left() >= i64::from(self.days_before)
    }
}

impl LastMoment {
    fn is_over(&self, moment: &CancelMoment<'_>) -> bool {
        let (days_left, last_day) = (moment.days_left(), i64::from(self.days_before));
        days_left < last_day || days_left == last_day && moment.now.hour(moment.zone) >= self.hour
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    const DAY: Duration = Duration::from_secs(86_400);
    const HOUR: Duration = Duration::from_secs(3_600);
    const SEOUL: &str = "Asia/Seoul";

    fn policy(steps: &[(u32, u32)]) -> RefundPolicy {
        let steps = steps.iter().map(|&(days, percent)| FeeStep::percent(days, percent));
        RefundPolicy { steps: steps.collect(), ..RefundPolicy::default() }
    }

    /// 2026-03-31 19:00 in Seoul.
    fn show() -> Timestamp {
        "2026-03-31T10:00:00Z".parse().unwrap()
    }

    /// Long after the booking.
    fn at(now: Timestamp) -> CancelMoment<'static> {
        CancelMoment { booked_at: Timestamp::from_ms(0), starts_at: show(), now, zone: SEOUL }
    }

    fn won(amount: i64) -> Won {
        Won::new(amount).unwrap()
    }

    fn percent(policy: &RefundPolicy, moment: &CancelMoment<'_>) -> Result<u32, Refusal> {
        policy.terms(moment).map(|terms| terms.retained.percent)
    }

    /// The habit of the large sellers.
    fn large_seller() -> RefundPolicy {
        let fixed = FeeStep { days_before: 999, fee_percent: 10, fee_amount: Some(won(4_000)) };
        let steps = [(9, 10), (6, 20), (2, 30), (0, 90)];
        let steps = steps.map(|(days, percent)| FeeStep::percent(days, percent));
        RefundPolicy {
            steps: [FeeStep { days_before: 365, ..fixed }].into_iter().chain(steps).collect(),
            grace: Some(Grace {
                unit: GraceUnit::Days,
                length: 7,
                days_before: 10,
                refunds_fees: false,
            }),
            last_moment: None,
        }
    }

    #[test]
    fn the_fee_grows_as_the_show_comes_closer() {
        let policy = policy(&[(9, 10), (6, 20), (2, 30), (1, 30)]);
        let ask = |days: u32| percent(&policy, &at(show().minus(DAY * days)));
        for (days, fee) in [(30, 0), (10, 0), (9, 10), (7, 10), (6, 20), (2, 30), (1, 30)] {
            assert_eq!(ask(days), Ok(fee), "{days} days before");
        }
        let on_the_day = at(show().minus(Duration::from_secs(60)));
        assert_eq!(percent(&policy, &on_the_day), Err(Refusal::CancelClosed));
    }

    #[test]
    fn a_day_ends_at_midnight_where_the_venue_is() {
        let policy = policy(&[(1, 30)]);
        let midnight: Timestamp = "2026-03-30T15:00:00Z".parse().unwrap();
        let before = midnight.minus(Duration::from_millis(1));
        assert_eq!(percent(&policy, &at(before)), Ok(30));
        assert_eq!(percent(&policy, &at(midnight)), Err(Refusal::CancelClosed));
        // In Berlin the day of the show begins seven hours later.
        let berlin = CancelMoment { zone: "Europe/Berlin", ..at(midnight) };
        assert_eq!(percent(&policy, &berlin), Ok(30));
    }

    #[test]
    fn without_steps_all_goes_back_until_the_show_begins() {
        let free = RefundPolicy::default();
        assert_eq!(percent(&free, &at(show().minus(Duration::from_millis(1)))), Ok(0));
        assert_eq!(percent(&free, &at(show())), Err(Refusal::CancelClosed));
        assert_eq!(free.periods(show(), show().minus(DAY), SEOUL), []);
    }

    #[test]
    fn a_fixed_fee_is_never_more_than_its_percentage() {
        let retained = Retained { percent: 10, amount: Some(won(4_000)) };
        assert_eq!(retained.of(won(150_000)), won(4_000));
        assert_eq!(retained.of(won(30_000)), won(3_000));
        assert_eq!(retained.of(Won::ZERO), Won::ZERO);
    }

    #[test]
    fn free_for_a_week_after_the_booking_while_the_show_is_far_away() {
        let policy = large_seller();
        policy.check().unwrap();
        let ask = |booked_before: u32, now_before: u32| {
            let booked_at = show().minus(DAY * booked_before);
            policy.terms(&CancelMoment { booked_at, ..at(show().minus(DAY * now_before)) })
        };
        let fixed = Retained { percent: 10, amount: Some(won(4_000)) };
        assert_eq!(ask(40, 33).unwrap().retained, Retained::NOTHING, "the seventh day");
        assert_eq!(ask(40, 32).unwrap().retained, fixed, "the eighth day");
        assert_eq!(ask(12, 10).unwrap().retained, Retained::NOTHING);
        assert_eq!(ask(12, 9).unwrap().retained, Retained::percent(10), "nine days before");
        assert!(!ask(40, 39).unwrap().refunds_fees, "the fees have a rule of their own");
    }

    #[test]
    fn a_grace_of_hours_counts_from_the_booking_and_one_of_no_days_ends_at_midnight() {
        let grace = |unit, length| RefundPolicy {
            grace: Some(Grace { unit, length, days_before: 3, refunds_fees: true }),
            ..policy(&[(30, 20), (0, 20)])
        };
        let booked_at = show().minus(DAY * 20);
        let after = |policy: &RefundPolicy, length: Duration| {
            let moment = CancelMoment { booked_at, ..at(booked_at.plus(length)) };
            policy.terms(&moment).unwrap().refunds_fees
        };
        let policy = grace(GraceUnit::Hours, 24);
        assert!(after(&policy, HOUR * 24 - Duration::from_millis(1)));
        assert!(!after(&policy, HOUR * 24));
        // Booked at 19:00.
        let policy = grace(GraceUnit::Days, 0);
        assert!(after(&policy, HOUR * 5 - Duration::from_millis(1)));
        assert!(!after(&policy, HOUR * 5));
    }

    #[test]
    fn a_last_moment_ends_cancellation_before_the_steps_do() {
        let last_moment = Some(LastMoment { days_before: 1, hour: 17 });
        let policy = RefundPolicy { last_moment, ..policy(&[(1, 30), (0, 90)]) };
        policy.check().unwrap();
        // 17:00 on the day before.
        let five: Timestamp = "2026-03-30T08:00:00Z".parse().unwrap();
        assert_eq!(percent(&policy, &at(five.minus(Duration::from_millis(1)))), Ok(30));
        assert_eq!(percent(&policy, &at(five)), Err(Refusal::CancelClosed));
        assert_eq!(percent(&policy, &at(five.plus(DAY))), Err(Refusal::CancelClosed));
    }

    #[test]
    fn a_wrong_policy_names_its_field() {
        let field = |policy: RefundPolicy| match policy.check() {
            Err(Refusal::InvalidPolicy { field }) => field,
            other => panic!("{other:?}"),
        };
        assert_eq!(policy(&[(9, 10), (1, 90)]).check(), Ok(()));
        assert_eq!(field(policy(&[(1, 10), (9, 20)])), "steps[1].daysBefore");
        assert_eq!(field(policy(&[(9, 10), (9, 20)])), "steps[1].daysBefore");
        assert_eq!(field(policy(&[(9, 20), (1, 10)])), "steps[1].feePercent");
        assert_eq!(field(policy(&[(9, 91)])), "steps[0].feePercent");
        let fixed = |days_before, fee_percent, amount| FeeStep {
            days_before,
            fee_percent,
            fee_amount: Some(won(amount)),
        };
        let steps = |steps: &[FeeStep]| RefundPolicy { steps: steps.into(), ..policy(&[]) };
        assert_eq!(field(steps(&[fixed(9, 0, 100)])), "steps[0].feeAmount");
        assert_eq!(field(steps(&[fixed(9, 10, 200), fixed(5, 10, 100)])), "steps[1].feeAmount");
        let bare = FeeStep::percent(9, 10);
        assert_eq!(field(steps(&[bare, fixed(5, 10, 100)])), "steps[1].feeAmount");
        let grace = |unit, length, days_before| RefundPolicy {
            grace: Some(Grace { unit, length, days_before, refunds_fees: false }),
            ..policy(&[])
        };
        assert_eq!(field(grace(GraceUnit::Hours, 0, 0)), "grace.length");
        assert_eq!(field(grace(GraceUnit::Days, 31, 0)), "grace.length");
        assert_eq!(field(grace(GraceUnit::Days, 1, 731)), "grace.daysBefore");
        let last = |days_before, hour| RefundPolicy {
            last_moment: Some(LastMoment { days_before, hour }),
            ..policy(&[])
        };
        assert_eq!(field(last(1, 24)), "lastMoment.hour");
        assert_eq!(field(last(731, 0)), "lastMoment.daysBefore");
    }

    #[test]
    fn policies_of_earlier_versions_are_read() {
        let text = r#"{"steps":[{"daysBefore":9,"feePercent":10}]}"#;
        let read: RefundPolicy = serde_json::from_str(text).unwrap();
        assert_eq!(read, policy(&[(9, 10)]));
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }

    #[test]
    fn the_periods_have_the_dates_of_the_show() {
        let policy = policy(&[(9, 10), (6, 20), (1, 30)]);
        let dates = |days: u32| {
            let periods = policy.periods(show(), show().minus(DAY * days), SEOUL);
            let date = |it: RefundPeriod| (it.from, it.until, it.fee_percent);
            periods.into_iter().map(date).collect::<Vec<_>>()
        };
        let expected = [
            (None, "2026-03-21", 0),
            (Some("2026-03-22"), "2026-03-24", 10),
            (Some("2026-03-25"), "2026-03-29", 20),
            (Some("2026-03-30"), "2026-03-30", 30),
        ];
        let expected =
            expected.map(|(from, until, fee)| (from.map(str::to_owned), until.to_owned(), fee));
        assert_eq!(dates(20), expected);
        // Five days before, only what is ahead.
        assert_eq!(dates(5)[0], (None, "2026-03-29".to_owned(), 20));
        assert_eq!(dates(5).len(), 2);
        assert_eq!(dates(0), []);
    }

    proptest! {
        /// The table that fans read and the rule that decides agree, on every day and in every zone.
        #[test]
        fn the_periods_say_what_the_terms_are(
            days in prop::collection::btree_map(0u32..60, 0u32..=90, 1..6),
            minutes_before in 0u32..100_000, zone in prop::sample::select(
                vec!["Asia/Seoul", "Europe/Berlin", "America/New_York", "Pacific/Apia"]),
        ) {
            let mut fees: Vec<u32> = days.values().copied().collect();
            fees.sort_unstable();
            let steps: Vec<_> = days.keys().rev().copied().zip(fees).collect();
            let policy = policy(&steps);
            prop_assert_eq!(policy.check(), Ok(()));
            let now = show().minus(Duration::from_secs(u64::from(minutes_before) * 60 + 1));
            let moment = CancelMoment { zone, ..at(now) };
            let periods = policy.periods(show(), now, zone);
            let expected = periods.first().filter(|it| it.from.is_none()).map(|it| it.fee_percent).ok_or(Refusal::CancelClosed);
            prop_assert_eq!(percent(&policy, &moment), expected);
        }

        /// Waiting never pays off, and a part is always refunded.
        #[test]
        fn the_fee_never_falls(
            earlier in 0u32..60_000, later in 0u32..60_000, price in 1i64..10_000_000,
        ) {
            let (earlier, later) = (earlier.max(later), earlier.min(later));
            let policy = RefundPolicy { grace: None, ..large_seller() };
            let fee = |minutes: u32| {
                let now = show().minus(Duration::from_secs(u64::from(minutes) * 60 + 1));
                policy.terms(&at(now)).map(|terms| terms.retained.of(won(price)))
            };
            let (before, after) = (fee(earlier).unwrap(), fee(later).unwrap());
            prop_assert!(before <= after && after < won(price));
        }
    }
}
