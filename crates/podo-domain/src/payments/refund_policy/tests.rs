//! Tests of refund policies: days and midnights in several zones.

use crate::payments::refund_policy::{
    CancelMoment, FeeStep, Grace, GraceUnit, LastMoment, RefundPeriod, RefundPolicy, Retained,
};
use crate::{Refusal, Timestamp, Won};
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
