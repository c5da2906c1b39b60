//! What a gateway's answer means for a payment by virtual account.

use crate::booking::reservations::Reservation;
use crate::catalog::ScheduleStatus;
use crate::payments::deposits::{Awaited, CANCELED, TOO_LITTLE};
use crate::payments::{
    Outcome, Payment, PaymentMethod, PaymentStatus, SHOW_CANCELED, Settlement, settle_captured,
};
use crate::{Timestamp, Won};

/// An account is issued and its money hasn't come. The deadline isn't asked here: as long as the
/// seats are kept, a deposit wins over the job that closes the account.
pub(crate) fn settle_awaited(
    payment: &Payment,
    reservation: &Reservation,
    date: ScheduleStatus,
    outcome: Outcome,
    now: Timestamp,
) -> Settlement {
    match outcome {
        Outcome::Unknown => Settlement::Nothing,
        Outcome::AwaitingDeposit(Awaited { received, .. }) => Settlement::Received { received },
        Outcome::NotCaptured { reason } => {
            let is_by_fan = reason == CANCELED || date == ScheduleStatus::Cancelled;
            let canceled = payment.to(PaymentStatus::Canceled);
            let reservation =
                if is_by_fan { reservation.call_off() } else { reservation.miss_deposit() };
            Settlement::Declined { payment: canceled, reservation, reason }
        }
        Outcome::Captured { amount } if amount.is_zero() => Settlement::Nothing,
        Outcome::Captured { amount } if date == ScheduleStatus::Cancelled => {
            Settlement::RefundDue {
                payment: payment.charged_for_nothing(amount),
                reservation: reservation.call_off(),
                amount,
                reason: SHOW_CANCELED,
            }
        }
        Outcome::Captured { amount } if amount < payment.amount => Settlement::RefundDue {
            payment: payment.charged_for_nothing(amount),
            reservation: reservation.miss_deposit(),
            amount,
            reason: TOO_LITTLE,
        },
        Outcome::Captured { amount } => settle_captured(payment, reservation, amount, now),
    }
}

/// Money that comes to a virtual account after its payment was settled: it is owed back.
pub(crate) fn settle_more(payment: &Payment, outcome: &Outcome) -> Settlement {
    let Outcome::Captured { amount } = outcome else { return Settlement::Nothing };
    let more = amount.checked_sub(payment.captured).filter(|more| !more.is_zero());
    match (payment.method, more) {
        (PaymentMethod::VirtualAccount, Some(more)) => {
            Settlement::Excess { payment: payment.received_more(more), amount: more }
        }
        _ => Settlement::Nothing,
    }
}

impl Payment {
    /// What came beyond the price.
    pub(crate) fn excess(&self, received: Won) -> Won {
        if self.method != PaymentMethod::VirtualAccount {
            return Won::ZERO;
        }
        received.checked_sub(self.amount).unwrap_or(Won::ZERO)
    }

    /// More money came than was charged before, and all of that is promised back.
    fn received_more(&self, more: Won) -> Payment {
        let sum = |one: Won| one.checked_add(more).expect("deposits are far below the maximum");
        Payment {
            captured: sum(self.captured),
            promised: sum(self.promised),
            ..self.to(PaymentStatus::RefundDue)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::booking::reservations::Next;
    use crate::booking::reservations::ReservationStatus;
    use crate::payments::deposits::EXPIRED;
    use crate::payments::deposits::tests::{PRICE, awaited, paying, settled, won};
    use crate::payments::{TOO_LATE, settle};
    use proptest::prelude::*;

    fn captured(amount: i64) -> Outcome {
        Outcome::Captured { amount: won(amount) }
    }

    fn no(reason: &str) -> Outcome {
        Outcome::NotCaptured { reason: reason.to_owned() }
    }

    fn status_of(next: &Next) -> Option<ReservationStatus> {
        match next {
            Next::Same => None,
            Next::To(next) => Some(next.status),
        }
    }

    #[test]
    fn an_issued_account_keeps_the_seats_and_the_exact_deposit_buys_them() {
        let issued = settled(PaymentStatus::Requested, awaited(0));
        let Settlement::Issued { payment, account } = issued else { panic!("{issued:?}") };
        assert_eq!(payment.status, PaymentStatus::AwaitingDeposit);
        assert_eq!(&*account.account.number, "56211234567890");
        let paid = settled(PaymentStatus::AwaitingDeposit, captured(PRICE));
        let Settlement::Confirmed { payment, reservation, excess } = paid else {
            panic!("{paid:?}")
        };
        assert_eq!((payment.status, payment.captured), (PaymentStatus::Captured, won(PRICE)));
        assert_eq!((reservation.status, excess), (ReservationStatus::Confirmed, Won::ZERO));
    }

    #[test]
    fn a_part_of_the_price_waits_for_the_rest_until_the_account_is_closed() {
        let part = settled(PaymentStatus::AwaitingDeposit, awaited(PRICE - 1));
        assert_eq!(part, Settlement::Received { received: won(PRICE - 1) });
        let closed = settled(PaymentStatus::AwaitingDeposit, captured(PRICE - 1));
        let Settlement::RefundDue { payment, reservation, amount, reason } = closed else {
            panic!("{closed:?}")
        };
        assert_eq!((payment.promised, amount), (won(PRICE - 1), won(PRICE - 1)));
        assert_eq!(status_of(&reservation), Some(ReservationStatus::Expired));
        assert_eq!(reason, TOO_LITTLE);
    }

    #[test]
    fn too_much_buys_the_seats_and_only_the_rest_goes_back() {
        let over = settled(PaymentStatus::AwaitingDeposit, captured(PRICE + 700));
        let Settlement::Confirmed { payment, excess, .. } = over else { panic!("{over:?}") };
        assert_eq!((payment.captured, excess), (won(PRICE + 700), won(700)));
        let due = payment.refund_due(excess).unwrap();
        assert_eq!((due.status, due.refundable()), (PaymentStatus::RefundDue, won(PRICE)));
    }

    #[test]
    fn a_second_deposit_is_owed_back_even_after_a_full_refund() {
        for status in [
            PaymentStatus::Captured,
            PaymentStatus::PartiallyRefunded,
            PaymentStatus::RefundDue,
            PaymentStatus::Refunded,
        ] {
            let twice = settled(status, captured(2 * PRICE));
            let Settlement::Excess { payment, amount } = twice else { panic!("{twice:?}") };
            assert_eq!((payment.status, amount), (PaymentStatus::RefundDue, won(PRICE)));
            assert_eq!(settled(status, captured(PRICE)), Settlement::Nothing, "{status:?}");
        }
    }

    #[test]
    fn a_deposit_for_seats_that_are_gone_goes_back() {
        for status in [PaymentStatus::Canceled, PaymentStatus::Failed] {
            let late = settled(status, captured(PRICE));
            let Settlement::RefundDue { amount, reason, reservation, .. } = late else {
                panic!("{late:?}")
            };
            assert_eq!((amount, reason, status_of(&reservation)), (won(PRICE), TOO_LATE, None));
        }
    }

    #[test]
    fn a_missed_deadline_expires_the_order_and_a_fan_cancels_it() {
        for (reason, after) in [
            (EXPIRED, ReservationStatus::Expired),
            ("VOIDED", ReservationStatus::Expired),
            (CANCELED, ReservationStatus::Canceled),
        ] {
            let over = settled(PaymentStatus::AwaitingDeposit, no(reason));
            let Settlement::Declined { payment, reservation, .. } = over else {
                panic!("{over:?}")
            };
            assert_eq!(payment.status, PaymentStatus::Canceled);
            assert_eq!(status_of(&reservation), Some(after), "{reason}");
        }
        let unknown = settled(PaymentStatus::AwaitingDeposit, Outcome::Unknown);
        assert_eq!(unknown, Settlement::Nothing, "an account that can't be asked about stays");
    }

    #[test]
    fn a_canceled_date_gives_every_deposit_back() {
        let payment = Payment {
            status: PaymentStatus::AwaitingDeposit,
            ..Payment::ready(
                crate::PaymentId::new(uuid::Uuid::from_u128(1)),
                PaymentMethod::VirtualAccount,
                won(PRICE),
            )
        };
        let now = Timestamp::from_ms(0);
        let off = settle(&payment, &paying(), ScheduleStatus::Cancelled, captured(PRICE), now);
        let Settlement::RefundDue { reservation, reason, .. } = off else { panic!("{off:?}") };
        assert_eq!(status_of(&reservation), Some(ReservationStatus::Canceled));
        assert_eq!(reason, SHOW_CANCELED);
    }

    proptest! {
        /// Whatever comes in whatever order, all of it is a ticket or on its way back.
        #[test]
        fn every_won_of_a_deposit_ends_in_a_ticket_or_a_refund(
            steps in prop::collection::vec((0u8..4, 1i64..400_000), 1..12),
        ) {
            let mut payment = Payment {
                status: PaymentStatus::AwaitingDeposit,
                ..Payment::ready(
                    crate::PaymentId::new(uuid::Uuid::from_u128(1)),
                    PaymentMethod::VirtualAccount,
                    won(PRICE),
                )
            };
            let mut reservation = paying();
            let (mut book, mut closed) = (0, false);
            for (kind, amount) in steps {
                match kind {
                    0 | 1 => book += amount,
                    2 => closed = true,
                    _ => {}
                }
                let outcome = match (closed || book >= PRICE, book) {
                    (true, 0) => no(EXPIRED),
                    (true, book) => captured(book),
                    (false, book) => awaited(book),
                };
                let date = ScheduleStatus::Ongoing;
                let now = Timestamp::from_ms(0);
                let (next, moved) = match settle(&payment, &reservation, date, outcome, now) {
                    Settlement::Confirmed { payment, reservation, excess } => {
                        let due = payment.refund_due(excess).unwrap_or(payment);
                        (due, Next::To(reservation))
                    }
                    Settlement::Declined { payment, reservation, .. }
                    | Settlement::RefundDue { payment, reservation, .. } => (payment, reservation),
                    Settlement::Excess { payment, .. } => (payment, Next::Same),
                    Settlement::Nothing | Settlement::Received { .. } => {
                        (payment.clone(), Next::Same)
                    }
                    other @ (Settlement::StillUnknown(_) | Settlement::Issued { .. }) => {
                        panic!("{other:?}")
                    }
                };
                payment = next;
                if let Next::To(next) = moved {
                    reservation = next;
                }
                let has_ticket = reservation.status == ReservationStatus::Confirmed;
                let ticket = if has_ticket { PRICE } else { 0 };
                let is_open = payment.status == PaymentStatus::AwaitingDeposit;
                prop_assert_eq!(is_open, reservation.status == ReservationStatus::Paying);
                if !is_open {
                    prop_assert_eq!(ticket + payment.promised.get(), book);
                    prop_assert_eq!(payment.captured.get(), book);
                }
            }
        }
    }
}
