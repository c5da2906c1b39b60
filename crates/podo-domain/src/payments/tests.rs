use crate::booking::issued::Channel;
use crate::booking::reservations::ReservationStatus;
use crate::catalog::ScheduleStatus::{Cancelled, Upcoming};
use crate::payments::*;
use crate::{ReservationId, ScheduleId, UserId};
use proptest::prelude::*;
use uuid::Uuid;

const PRICE: Won = match Won::new(150_000) {
    Some(price) => price,
    None => panic!(),
};

fn payment(status: PaymentStatus) -> Payment {
    Payment {
        id: PaymentId::new(Uuid::from_u128(9)),
        method: PaymentMethod::Card,
        status,
        amount: PRICE,
        captured: Won::ZERO,
        refunded: Won::ZERO,
        promised: Won::ZERO,
    }
}

fn reservation(status: ReservationStatus) -> Reservation {
    Reservation {
        id: ReservationId::new(Uuid::from_u128(1)),
        user: UserId::new(Uuid::from_u128(2)),
        channel: Channel::Fan,
        schedule: ScheduleId::new(Uuid::from_u128(3 << 64)),
        phase: None,
        place: 1,
        status,
        hold_expires_at: Timestamp::from_ms(1_000),
        amount: PRICE,
        order_fee: Won::ZERO,
        currency: crate::Currency::Krw,
        promotion: None,
        version: 2,
        payment_window_given: true,
        retry_window_given: false,
    }
}

fn settled(payment_status: PaymentStatus, outcome: Outcome) -> Settlement {
    let reservation = reservation(ReservationStatus::Paying);
    settle(&payment(payment_status), &reservation, Upcoming, outcome, Timestamp::from_ms(500))
}

#[test]
fn a_payment_for_a_date_that_is_called_off_goes_back_or_ends() {
    let paying = reservation(ReservationStatus::Paying);
    let settled = |outcome| {
        let payment = payment(PaymentStatus::Requested);
        settle(&payment, &paying, Cancelled, outcome, Timestamp::from_ms(500))
    };
    let captured = settled(Outcome::Captured { amount: PRICE });
    let Settlement::RefundDue { payment, reservation: Next::To(over), amount, reason } = captured
    else {
        panic!("{captured:?}");
    };
    assert_eq!((payment.promised, amount, reason), (PRICE, PRICE, SHOW_CANCELED));
    assert_eq!(over.status, ReservationStatus::Canceled);
    let declined = settled(Outcome::NotCaptured { reason: "NO_MONEY".into() });
    let Settlement::Declined { payment, reservation: Next::To(over), reason } = declined else {
        panic!("{declined:?}");
    };
    assert_eq!((payment.status, &*reason), (PaymentStatus::Failed, SHOW_CANCELED));
    assert_eq!(over.status, ReservationStatus::Canceled, "no second card for it");
    assert!(matches!(settled(Outcome::Unknown), Settlement::StillUnknown(_)));
}

#[test]
fn captured_in_time_is_a_ticket() {
    let settlement = settled(PaymentStatus::Requested, Outcome::Captured { amount: PRICE });
    let Settlement::Confirmed { payment, reservation, excess } = settlement else {
        panic!("{settlement:?}");
    };
    assert_eq!((payment.status, payment.captured), (PaymentStatus::Captured, PRICE));
    assert_eq!(excess, Won::ZERO);
    assert_eq!(reservation.status, ReservationStatus::Confirmed);
}

#[test]
fn an_unknown_outcome_moves_nothing_until_it_is_known() {
    let unknown = settled(PaymentStatus::Requested, Outcome::Unknown);
    assert!(matches!(unknown, Settlement::StillUnknown(_)));
    assert_eq!(settled(PaymentStatus::Unknown, Outcome::Unknown), Settlement::Nothing);
    let known = settled(PaymentStatus::Unknown, Outcome::Captured { amount: PRICE });
    assert!(matches!(known, Settlement::Confirmed { .. }));
}

#[test]
fn a_wrong_amount_goes_back() {
    let one = Won::new(1).unwrap();
    let settlement = settled(PaymentStatus::Requested, Outcome::Captured { amount: one });
    let Settlement::RefundDue { payment, amount, .. } = settlement else {
        panic!("{settlement:?}");
    };
    assert_eq!((payment.status, amount), (PaymentStatus::RefundDue, one));
}

#[test]
fn money_for_seats_that_are_gone_goes_back() {
    for status in [ReservationStatus::Expired, ReservationStatus::Confirmed] {
        let late = settle(
            &payment(PaymentStatus::Unknown),
            &reservation(status),
            Upcoming,
            Outcome::Captured { amount: PRICE },
            Timestamp::from_ms(9_999),
        );
        assert!(matches!(late, Settlement::RefundDue { .. }), "{status:?}: {late:?}");
    }
}

#[test]
fn a_settled_payment_stays_settled() {
    for status in [
        PaymentStatus::Captured,
        PaymentStatus::PartiallyRefunded,
        PaymentStatus::Refunded,
        PaymentStatus::RefundDue,
    ] {
        let outcome = Outcome::Captured { amount: PRICE };
        assert_eq!(settled(status, outcome), Settlement::Nothing, "{status:?}");
    }
}

#[test]
fn a_capture_of_a_payment_that_is_not_in_progress_is_refunded() {
    for status in [PaymentStatus::Ready, PaymentStatus::Failed, PaymentStatus::Canceled] {
        let late = settled(status, Outcome::Captured { amount: PRICE });
        let Settlement::RefundDue { payment, reservation, amount, .. } = late else {
            panic!("{status:?}: {late:?}");
        };
        assert_eq!((payment.captured, payment.promised, amount), (PRICE, PRICE, PRICE));
        assert_eq!(reservation, Next::Same);
        let no = Outcome::NotCaptured { reason: "NO".into() };
        assert_eq!(settled(status, no), Settlement::Nothing, "{status:?}");
        assert_eq!(settled(status, Outcome::Unknown), Settlement::Nothing, "{status:?}");
    }
}

#[test]
fn a_capture_of_nothing_is_not_known() {
    let nothing = settled(PaymentStatus::Requested, Outcome::Captured { amount: Won::ZERO });
    assert!(matches!(nothing, Settlement::StillUnknown(_)), "{nothing:?}");
}

#[test]
fn a_second_refund_may_be_promised_while_the_first_is_due() {
    let (one, two) = (Won::new(50_000).unwrap(), Won::new(100_000).unwrap());
    let paid = Payment { captured: PRICE, ..payment(PaymentStatus::Captured) };
    let both = paid.refund_due(one).unwrap().refund_due(two).unwrap();
    assert_eq!((both.promised, both.refundable()), (PRICE, Won::ZERO));
    assert_eq!(both.refund_due(one), Err(Refusal::NothingToRefund));
    let first = both.refunded(one).unwrap();
    assert_eq!((first.status, first.promised), (PaymentStatus::RefundDue, two));
    assert_eq!(first.refunded(two).unwrap().status, PaymentStatus::Refunded);
    assert_eq!(paid.refunded(one), Err(Refusal::NothingToRefund), "it was not promised");
}

#[test]
fn only_a_ready_payment_of_the_right_amount_may_be_confirmed() {
    let check = |status, amount| payment(status).check_confirm(Won::new(amount).unwrap());
    assert_eq!(check(PaymentStatus::Ready, 150_000), Ok(()));
    assert_eq!(check(PaymentStatus::Ready, 1), Err(Refusal::AmountMismatch));
    assert_eq!(check(PaymentStatus::Unknown, 150_000), Err(Refusal::PaymentRunning));
    assert_eq!(check(PaymentStatus::Captured, 150_000), Err(Refusal::AlreadyPaid));
    assert_eq!(check(PaymentStatus::Failed, 150_000), Err(Refusal::PaymentOver));
}

proptest! {
    /// I7: refunds never exceed what was captured.
    #[test]
    fn refunds_never_exceed_what_was_captured(asks in prop::collection::vec(0i64..200_000, 1..12)) {
        let mut paid = Payment { captured: PRICE, ..payment(PaymentStatus::Captured) };
        for ask in asks {
            let ask = Won::new(ask).unwrap();
            if let Ok(due) = paid.refund_due(ask) {
                paid = due.refunded(ask).unwrap();
            }
            prop_assert!(paid.refunded <= paid.captured);
            prop_assert_eq!(paid.status == PaymentStatus::Refunded, paid.refunded == paid.captured);
        }
    }
}
