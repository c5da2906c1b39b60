//! Resolutions by hand: a payment whose outcome no gateway reports, or a refund that none makes.
//! While it may still end by itself, organisers can't interfere.

use crate::payments::refunds::RefundStatus;
use crate::payments::{Outcome, PaymentStatus, VOID_AFTER};
use crate::{Refusal, Timestamp, Won};
use serde::{Deserialize, Serialize};

/// Attempts after which a refund counts as stuck.
pub const STUCK_AFTER_ATTEMPTS: u32 = 3;

/// What the organiser found in the gateway's console.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    /// The fan was charged.
    Captured,
    /// The fan was not charged and will not be.
    NotCaptured,
}

impl Verdict {
    pub const fn as_str(self) -> &'static str {
        match self {
            Verdict::Captured => "CAPTURED",
            Verdict::NotCaptured => "NOT_CAPTURED",
        }
    }

    /// The equivalent answer of a gateway. `amount` is what was charged.
    pub fn outcome(self, amount: Won) -> Outcome {
        match self {
            Verdict::Captured => Outcome::Captured { amount },
            Verdict::NotCaptured => Outcome::NotCaptured { reason: "ENDED_BY_HAND".to_owned() },
        }
    }
}

/// Whether an organiser may resolve this payment: queries and a void must have failed.
pub fn check_payment(
    status: PaymentStatus,
    requested_at: Option<Timestamp>,
    now: Timestamp,
) -> Result<(), Refusal> {
    match (status, requested_at) {
        (PaymentStatus::Requested | PaymentStatus::Unknown, Some(at))
            if at.plus(VOID_AFTER) <= now =>
        {
            Ok(())
        }
        (PaymentStatus::Requested | PaymentStatus::Unknown, _) => Err(Refusal::PaymentRunning),
        (
            PaymentStatus::Ready
            | PaymentStatus::AwaitingDeposit
            | PaymentStatus::Captured
            | PaymentStatus::PartiallyRefunded
            | PaymentStatus::RefundDue
            | PaymentStatus::Refunded
            | PaymentStatus::Failed
            | PaymentStatus::Canceled,
            _,
        ) => Err(Refusal::NotStuck),
    }
}

/// Whether an organiser may resolve this refund: not while a node is making it, because it would be
/// made twice.
pub fn check_refund(
    status: RefundStatus,
    attempts: u32,
    taken_until: Option<Timestamp>,
    now: Timestamp,
) -> Result<(), Refusal> {
    match status {
        RefundStatus::Due if taken_until.is_some_and(|until| now < until) => {
            Err(Refusal::PaymentRunning)
        }
        RefundStatus::Due if attempts >= STUCK_AFTER_ATTEMPTS => Ok(()),
        RefundStatus::Due | RefundStatus::Refunded => Err(Refusal::NotStuck),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    #[test]
    fn only_a_payment_that_was_voided_in_vain_is_ended_by_hand() {
        let asked = Some(at(0));
        let late = at(0).plus(VOID_AFTER);
        for status in PaymentStatus::ALL {
            let is_open = matches!(status, PaymentStatus::Requested | PaymentStatus::Unknown);
            let expected = if is_open { Ok(()) } else { Err(Refusal::NotStuck) };
            assert_eq!(check_payment(status, asked, late), expected, "{status:?}");
        }
        let early = check_payment(PaymentStatus::Unknown, asked, at(1_000));
        assert_eq!(early, Err(Refusal::PaymentRunning));
    }

    #[test]
    fn a_refund_is_ended_by_hand_when_it_was_tried_and_no_node_works_on_it() {
        let check = |attempts, until| check_refund(RefundStatus::Due, attempts, until, at(10));
        assert_eq!(check(3, None), Ok(()));
        assert_eq!(check(3, Some(at(10))), Ok(()));
        assert_eq!(check(3, Some(at(11))), Err(Refusal::PaymentRunning));
        assert_eq!(check(2, None), Err(Refusal::NotStuck));
        let made = check_refund(RefundStatus::Refunded, 9, None, at(10));
        assert_eq!(made, Err(Refusal::NotStuck));
    }
}
