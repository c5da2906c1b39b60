//! Deadlines and numbers, and what the tests of the settlement share.

use super::*;
use crate::booking::issued::Channel;
use crate::booking::reservations::{Reservation, ReservationStatus};
use crate::catalog::ScheduleStatus;
use crate::payments::{Outcome, Payment, PaymentMethod, PaymentStatus, Settlement, settle};
use crate::{Currency, PaymentId, ReservationId, ScheduleId, UserId};
use uuid::Uuid;

pub(super) const PRICE: i64 = 150_000;

pub(super) fn won(amount: i64) -> Won {
    Won::new(amount).unwrap()
}

pub(super) fn awaited(received: i64) -> Outcome {
    let account = VirtualAccount {
        bank: "SHINHAN".into(),
        number: "56211234567890".into(),
        holder: "포도".into(),
        until: None,
    };
    Outcome::AwaitingDeposit(Awaited { account, received: won(received) })
}

pub(super) fn paying() -> Reservation {
    Reservation {
        id: ReservationId::new(Uuid::from_u128(2)),
        user: UserId::new(Uuid::from_u128(3)),
        channel: Channel::Fan,
        schedule: ScheduleId::new(Uuid::from_u128(4)),
        phase: None,
        place: 1,
        status: ReservationStatus::Paying,
        hold_expires_at: Timestamp::from_ms(0),
        amount: won(PRICE),
        currency: Currency::Krw,
        order_fee: Won::ZERO,
        promotion: None,
        version: 3,
        payment_window_given: true,
        retry_window_given: false,
    }
}

/// What an answer does to a payment of 150,000 won in this state.
pub(super) fn settled(status: PaymentStatus, outcome: Outcome) -> Settlement {
    use PaymentStatus::{
        AwaitingDeposit, Canceled, Captured, Failed, PartiallyRefunded, Ready, RefundDue, Refunded,
        Requested, Unknown,
    };
    let ready = Payment::ready(
        PaymentId::new(Uuid::from_u128(1)),
        PaymentMethod::VirtualAccount,
        won(PRICE),
    );
    let (captured, refunded, promised) = match status {
        Captured => (PRICE, 0, 0),
        PartiallyRefunded => (PRICE, 1_000, 0),
        RefundDue => (PRICE, 0, 1_000),
        Refunded => (PRICE, PRICE, 0),
        Ready | Requested | Unknown | AwaitingDeposit | Failed | Canceled => (0, 0, 0),
    };
    let payment = Payment {
        status,
        captured: won(captured),
        refunded: won(refunded),
        promised: won(promised),
        ..ready
    };
    settle(&payment, &paying(), ScheduleStatus::Ongoing, outcome, Timestamp::from_ms(0))
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

const SEOUL: &str = "Asia/Seoul";

#[test]
fn the_deadline_is_the_end_of_the_next_day_where_the_venue_is() {
    let show = at("2026-12-24T10:00:00Z");
    let due = |deadline: DepositDeadline, now, zone| deadline.due_at(at(now), show, zone);
    let next_day = DepositDeadline::default();
    // 23:30 on the 1st in Seoul, and half past midnight on the 2nd.
    for (now, expected) in [
        ("2026-12-01T14:30:00Z", "2026-12-02T14:59:59Z"),
        ("2026-12-01T15:30:00Z", "2026-12-03T14:59:59Z"),
    ] {
        assert_eq!(due(next_day, now, SEOUL), Ok(at(expected)), "{now}");
    }
    let berlin = due(next_day, "2026-12-01T15:30:00Z", "Europe/Berlin");
    assert_eq!(berlin, Ok(at("2026-12-02T22:59:59Z")));
    let hours = due(DepositDeadline::Hours(3), "2026-12-01T15:30:00Z", SEOUL);
    assert_eq!(hours, Ok(at("2026-12-01T18:30:00Z")));
}

#[test]
fn a_day_with_another_length_still_ends_at_midnight() {
    let show = at("2027-06-01T10:00:00Z");
    // The clocks of Berlin go forward on 28 March 2027.
    let due = DepositDeadline::Days(1).due_at(at("2027-03-27T12:00:00Z"), show, "Europe/Berlin");
    assert_eq!(due, Ok(at("2027-03-28T21:59:59Z")));
}

#[test]
fn no_deposit_is_awaited_on_the_last_day_before_a_show() {
    let show = at("2026-12-24T10:00:00Z");
    let due = |now| DepositDeadline::default().due_at(at(now), show, SEOUL);
    let last = Ok(at("2026-12-23T10:00:00Z"));
    assert_eq!(due("2026-12-22T10:00:00Z"), last);
    assert_eq!(due("2026-12-23T09:00:00Z"), last, "an hour is left");
    assert_eq!(due("2026-12-23T09:00:01Z"), Err(Refusal::DepositTooLate));
    assert_eq!(due("2026-12-25T09:00:01Z"), Err(Refusal::DepositTooLate));
}

#[test]
fn a_deadline_is_read_back_and_has_limits() {
    for deadline in [DepositDeadline::Days(7), DepositDeadline::Hours(168)] {
        assert_eq!(DepositDeadline::parse(&deadline.to_text()), Some(deadline));
        let json = serde_json::to_string(&deadline).unwrap();
        assert_eq!(serde_json::from_str::<DepositDeadline>(&json).unwrap(), deadline);
    }
    assert_eq!(serde_json::to_string(&DepositDeadline::Days(1)).unwrap(), r#"{"days":1}"#);
    for odd in ["days:0", "days:8", "hours:0", "hours:169", "weeks:1", "days", ""] {
        assert_eq!(DepositDeadline::parse(odd), None, "{odd}");
    }
    let odd: Result<DepositDeadline, _> = serde_json::from_str(r#"{"hours":169}"#);
    assert_eq!(odd.unwrap_err().to_string(), "out_of_range:1..168");
}

#[test]
fn an_account_number_has_digits_only() {
    let read = |text: &str| AccountNumber::try_from(text.to_owned());
    let number = read("110-123 456789").unwrap();
    assert_eq!((number.as_str(), number.last_digits()), ("110123456789", "6789"));
    for odd in ["", "1234567", "12345678901234567", "110-12a-456789", "１１０１２３４５６７"]
    {
        assert_eq!(read(odd), Err("not_an_account".to_owned()), "{odd}");
    }
}
