//! Tests of the rules for reservations.

use crate::booking::issued::Channel;
use crate::booking::reservations::*;
use crate::payments::PaymentMethod::{Card, Wallet};
use proptest::prelude::*;
use uuid::Uuid;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

fn held_until(ms: i64) -> Reservation {
    Reservation {
        id: ReservationId::new(Uuid::from_u128(1)),
        user: UserId::new(Uuid::from_u128(2)),
        channel: Channel::Fan,
        schedule: ScheduleId::new(Uuid::from_u128(3 << 64)),
        phase: None,
        place: 1,
        status: ReservationStatus::Held,
        hold_expires_at: at(ms),
        amount: Won::ZERO,
        order_fee: Won::ZERO,
        currency: Currency::Krw,
        promotion: None,
        version: 1,
        payment_window_given: false,
        retry_window_given: false,
    }
}

#[test]
fn an_order_has_as_many_seats_as_the_organiser_permits() {
    assert_eq!(check_order_size(2, 2), Ok(()));
    assert_eq!(check_order_size(3, 2), Err(Refusal::TooManySeats { max: 2 }));
}

fn in_state(status: ReservationStatus) -> Reservation {
    Reservation { status, ..held_until(1_000) }
}

fn to(next: Next) -> Reservation {
    match next {
        Next::To(reservation) => reservation,
        Next::Same => panic!("nothing changed"),
    }
}

#[test]
fn a_hold_can_be_paid_until_its_last_millisecond() {
    let held = held_until(1_000);
    assert_eq!(held.start_paying(at(999)).map(|next| next.status), Ok(ReservationStatus::Paying));
    assert_eq!(held.start_paying(at(1_000)), Err(Refusal::HoldOver));
}

#[test]
fn the_payment_window_is_given_once_and_never_shortens_a_hold() {
    let held = held_until(1_000);
    let more = to(held.give_payment_window(Card, at(0)).unwrap());
    assert_eq!(more.hold_expires_at, at(0).plus(PAYMENT_WINDOW));
    assert_eq!(more.give_payment_window(Card, at(500)), Ok(Next::Same));
    let long = held_until(10_000_000);
    assert_eq!(long.give_payment_window(Card, at(0)), Ok(Next::Same));
}

#[test]
fn a_wallet_pays_within_the_hold_and_leaves_the_window_to_a_card() {
    let held = held_until(1_000);
    assert_eq!(held.give_payment_window(Wallet, at(999)), Ok(Next::Same));
    assert_eq!(held.give_payment_window(Wallet, at(1_000)), Err(Refusal::HoldOver));
    let more = to(held.give_payment_window(Card, at(999)).unwrap());
    assert_eq!(more.hold_expires_at, at(999).plus(PAYMENT_WINDOW));
}

#[test]
fn a_declined_fan_gets_two_more_minutes_once() {
    let paying = in_state(ReservationStatus::Paying);
    let again = to(paying.decline(at(5_000)));
    assert_eq!(again.status, ReservationStatus::Held);
    assert_eq!(again.hold_expires_at, at(5_000).plus(RETRY_WINDOW));

    let paying = again.start_paying(at(6_000)).unwrap();
    let late = again.hold_expires_at.plus(Duration::from_secs(1));
    assert_eq!(to(paying.decline(late)).status, ReservationStatus::Expired);
}

#[test]
fn a_payment_under_way_never_expires() {
    let paying = in_state(ReservationStatus::Paying);
    assert_eq!(paying.expire(at(i64::MAX)), Next::Same);
}

#[test]
fn money_for_a_lost_hold_is_not_a_ticket() {
    for status in [
        ReservationStatus::Held,
        ReservationStatus::Expired,
        ReservationStatus::Released,
        ReservationStatus::Canceled,
    ] {
        assert_eq!(in_state(status).confirm(), Err(Refusal::HoldOver), "{status:?}");
    }
}

#[test]
fn repeating_a_verb_changes_nothing() {
    assert_eq!(in_state(ReservationStatus::Confirmed).confirm(), Ok(Next::Same));
    assert_eq!(in_state(ReservationStatus::Released).release(), Ok(Next::Same));
    assert_eq!(in_state(ReservationStatus::Canceled).cancel(), Ok(Next::Same));
    assert_eq!(in_state(ReservationStatus::Expired).expire(at(9_999)), Next::Same);
    assert_eq!(in_state(ReservationStatus::Held).decline(at(0)), Next::Same);
}

#[test]
fn a_person_never_has_more_seats_than_the_limit() {
    assert_eq!(check_seat_limit(2, 2, 4), Ok(()));
    assert_eq!(check_seat_limit(3, 2, 4), Err(Refusal::SeatLimit { max: 4 }));
    assert_eq!(check_seat_limit(u32::MAX, 1, 4), Err(Refusal::SeatLimit { max: 4 }));
}

#[test]
fn a_booking_number_has_its_day_and_no_look_alikes() {
    let number = booking_number("2024-01-25T05:30:00Z".parse().unwrap(), u64::MAX);
    assert_eq!(number, "B-20240125-ZZZZZZ");
    let other = booking_number("2024-01-25T05:30:00Z".parse().unwrap(), 1);
    assert_eq!(other, "B-20240125-100000");
}

/// Any order of verbs keeps to the edges of the state machine, and a final state stays final.
fn apply(reservation: &Reservation, verb: u8, now: Timestamp) -> Option<Reservation> {
    let next = match verb {
        0 => reservation.give_payment_window(Card, now).ok()?,
        1 => return reservation.start_paying(now).ok(),
        2 => reservation.confirm().ok()?,
        3 => reservation.decline(now),
        4 => reservation.release().ok()?,
        5 => reservation.expire(now),
        _ => reservation.cancel().ok()?,
    };
    match next {
        Next::Same => None,
        Next::To(reservation) => Some(reservation),
    }
}

proptest! {
    #[test]
    fn every_path_keeps_to_the_edges(steps in prop::collection::vec((0u8..7, 0i64..400_000), 1..40)) {
        let mut reservation = held_until(300_000);
        let mut now = 0;
        for (verb, pause) in steps {
            now += pause;
            if let Some(next) = apply(&reservation, verb, at(now)) {
                prop_assert!(reservation.status.may_become(next.status));
                prop_assert_eq!(next.version, reservation.version + 1);
                prop_assert!(next.hold_expires_at >= reservation.hold_expires_at);
                reservation = next;
            }
        }
    }
}

#[test]
fn who_lets_five_holds_go_pauses_for_ten_minutes() {
    let at = |seconds: i64| Timestamp::from_ms(seconds * 1_000);
    assert_eq!(check_churn(4, Some(at(0)), at(1)), Ok(()));
    assert_eq!(check_churn(5, Some(at(0)), at(0)), Err(Refusal::HoldChurn { retry_after_s: 600 }));
    assert_eq!(check_churn(5, Some(at(0)), at(1)), Err(Refusal::HoldChurn { retry_after_s: 599 }));
    let nearly = Timestamp::from_ms(at(599).ms() + 1);
    assert_eq!(check_churn(5, Some(at(0)), nearly), Err(Refusal::HoldChurn { retry_after_s: 1 }));
    assert_eq!(check_churn(9, Some(at(0)), at(600)), Ok(()));
    assert_eq!(check_churn(0, None, at(0)), Ok(()));
}
