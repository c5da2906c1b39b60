//! The life of a payment, and the only way out of `PAYING`: [`settle`]. Refunds are rows of their
//! own.

use crate::booking::reservations::{Next, Reservation};
use crate::catalog::ScheduleStatus;
use crate::payments::deposits::{Awaited, settle_awaited, settle_more};
use crate::{PaymentId, Refusal, Timestamp, Won};
use serde::{Deserialize, Serialize};
use std::time::Duration;

pub use methods::{OfferedMethods, Payee, PaymentMethod};

/// A payment still unknown after this long is voided; only then are its seats released.
pub const VOID_AFTER: Duration = Duration::from_secs(180);

/// Why a captured payment is refunded: its seats are gone.
pub const TOO_LATE: &str = "TOO_LATE";

/// Why it's refunded, or can't be paid any more: the date is canceled.
pub const SHOW_CANCELED: &str = "SHOW_CANCELED";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PaymentStatus {
    /// The fan chose a payment method; no money may move yet.
    Ready,
    /// The intent is stored; the gateway is being asked.
    Requested,
    /// The gateway may or may not have charged: query it, never guess.
    Unknown,
    /// A virtual account is issued and keeps the seats until its deadline.
    AwaitingDeposit,
    Captured,
    PartiallyRefunded,
    /// Charged, and the refund is due.
    RefundDue,
    Refunded,
    /// The gateway declined for good.
    Failed,
    /// Abandoned before any money could move.
    Canceled,
}

impl PaymentStatus {
    pub const ALL: [PaymentStatus; 10] = [
        PaymentStatus::Ready,
        PaymentStatus::Requested,
        PaymentStatus::Unknown,
        PaymentStatus::AwaitingDeposit,
        PaymentStatus::Captured,
        PaymentStatus::PartiallyRefunded,
        PaymentStatus::RefundDue,
        PaymentStatus::Refunded,
        PaymentStatus::Failed,
        PaymentStatus::Canceled,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            PaymentStatus::Ready => "READY",
            PaymentStatus::Requested => "REQUESTED",
            PaymentStatus::Unknown => "UNKNOWN",
            PaymentStatus::AwaitingDeposit => "AWAITING_DEPOSIT",
            PaymentStatus::Captured => "CAPTURED",
            PaymentStatus::PartiallyRefunded => "PARTIALLY_REFUNDED",
            PaymentStatus::RefundDue => "REFUND_DUE",
            PaymentStatus::Refunded => "REFUNDED",
            PaymentStatus::Failed => "FAILED",
            PaymentStatus::Canceled => "CANCELED",
        }
    }

    pub fn parse(text: &str) -> Option<PaymentStatus> {
        PaymentStatus::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// The edges of the state machine (I5).
    pub const fn may_become(self, next: PaymentStatus) -> bool {
        use PaymentStatus::{
            AwaitingDeposit, Canceled, Captured, Failed, PartiallyRefunded, Ready, RefundDue,
            Refunded, Requested, Unknown,
        };
        match self {
            // A gateway may charge a payment that we gave up: after a void that it confirmed, or
            // without a request. That money is refunded.
            Ready => matches!(next, Requested | Captured | Canceled | RefundDue),
            Requested => {
                matches!(next, AwaitingDeposit | Captured | Failed | Unknown | RefundDue)
            }
            Unknown => matches!(next, AwaitingDeposit | Captured | Failed | RefundDue),
            AwaitingDeposit => matches!(next, Captured | Canceled | RefundDue),
            Captured | PartiallyRefunded => {
                matches!(next, RefundDue | Refunded | PartiallyRefunded)
            }
            // One refund may be due while another is promised or made.
            RefundDue => matches!(next, RefundDue | Refunded | PartiallyRefunded),
            // A virtual account may get a deposit when everything is over.
            Failed | Canceled | Refunded => matches!(next, RefundDue),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    pub id: PaymentId,
    pub method: PaymentMethod,
    pub status: PaymentStatus,
    pub amount: Won,
    pub captured: Won,
    pub refunded: Won,
    /// The amount of refunds that are due and not yet made.
    pub promised: Won,
}

/// A gateway's answer about one payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Captured {
        amount: Won,
    },
    /// The fan has a virtual account to pay to.
    AwaitingDeposit(Awaited),
    /// Final: nothing was charged and nothing will be.
    NotCaptured {
        reason: String,
    },
    /// It may or may not have charged.
    Unknown,
}

/// The effect of an outcome. Everything but `Nothing` is stored in one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// This payment was settled before, or its outcome is still unknown.
    Nothing,
    StillUnknown(Payment),
    /// A virtual account keeps the seats from now on.
    Issued {
        payment: Payment,
        account: Awaited,
    },
    /// A part of the price has come; the rest may follow until the account is closed.
    Received {
        received: Won,
    },
    Confirmed {
        payment: Payment,
        reservation: Reservation,
        /// What came beyond the price, to be refunded.
        excess: Won,
    },
    /// Money came for a payment that was settled before.
    Excess {
        payment: Payment,
        amount: Won,
    },
    Declined {
        payment: Payment,
        /// `Same` if the reservation no longer waits for this payment.
        reservation: Next,
        reason: String,
    },
    /// Charged for seats that are gone, for a canceled date, or with the wrong amount: all of it is
    /// refunded.
    RefundDue {
        payment: Payment,
        reservation: Next,
        amount: Won,
        reason: &'static str,
    },
}

impl Payment {
    /// The fan chose how to pay; no money has moved.
    pub const fn ready(id: PaymentId, method: PaymentMethod, amount: Won) -> Payment {
        let status = PaymentStatus::Ready;
        let (captured, refunded, promised) = (Won::ZERO, Won::ZERO, Won::ZERO);
        Payment { id, method, status, amount, captured, refunded, promised }
    }

    fn to(&self, status: PaymentStatus) -> Payment {
        assert!(self.status.may_become(status), "{:?} cannot become {status:?}", self.status);
        Payment { status, ..self.clone() }
    }

    /// Whether money may move for this payment now, and the amount is the one that the fan saw.
    pub fn check_confirm(&self, amount: Won) -> Result<(), Refusal> {
        match self.status {
            PaymentStatus::Ready if amount == self.amount => Ok(()),
            PaymentStatus::Ready => Err(Refusal::AmountMismatch),
            PaymentStatus::Requested | PaymentStatus::Unknown | PaymentStatus::AwaitingDeposit => {
                Err(Refusal::PaymentRunning)
            }
            PaymentStatus::Captured
            | PaymentStatus::PartiallyRefunded
            | PaymentStatus::RefundDue
            | PaymentStatus::Refunded => Err(Refusal::AlreadyPaid),
            PaymentStatus::Failed | PaymentStatus::Canceled => Err(Refusal::PaymentOver),
        }
    }

    pub fn requested(&self) -> Payment {
        self.to(PaymentStatus::Requested)
    }

    /// The wallet pays immediately, in the same transaction.
    pub fn captured_at_once(&self) -> Payment {
        Payment { captured: self.amount, ..self.to(PaymentStatus::Captured) }
    }

    pub fn canceled(&self) -> Payment {
        self.to(PaymentStatus::Canceled)
    }

    /// What could still be refunded and isn't promised yet.
    pub fn refundable(&self) -> Won {
        let left = self.captured.checked_sub(self.refunded);
        left.and_then(|left| left.checked_sub(self.promised)).unwrap_or(Won::ZERO)
    }

    /// Promises a refund of `amount`.
    pub fn refund_due(&self, amount: Won) -> Result<Payment, Refusal> {
        if amount.is_zero() || amount > self.refundable() {
            return Err(Refusal::NothingToRefund);
        }
        match self.status {
            PaymentStatus::Captured
            | PaymentStatus::PartiallyRefunded
            | PaymentStatus::RefundDue => {
                let promised = self.promised.checked_add(amount).ok_or(Refusal::NothingToRefund)?;
                Ok(Payment { promised, ..self.to(PaymentStatus::RefundDue) })
            }
            PaymentStatus::Ready
            | PaymentStatus::Requested
            | PaymentStatus::Unknown
            | PaymentStatus::AwaitingDeposit
            | PaymentStatus::Refunded
            | PaymentStatus::Failed
            | PaymentStatus::Canceled => Err(Refusal::NothingToRefund),
        }
    }

    /// Records that the promised `amount` was refunded.
    pub fn refunded(&self, amount: Won) -> Result<Payment, Refusal> {
        let refunded = self.refunded.checked_add(amount).ok_or(Refusal::NothingToRefund)?;
        let promised = self.promised.checked_sub(amount).ok_or(Refusal::NothingToRefund)?;
        if amount.is_zero() || refunded > self.captured {
            return Err(Refusal::NothingToRefund);
        }
        let status = if refunded == self.captured {
            PaymentStatus::Refunded
        } else if promised.is_zero() {
            PaymentStatus::PartiallyRefunded
        } else {
            PaymentStatus::RefundDue
        };
        Ok(Payment { refunded, promised, ..self.to(status) })
    }

    /// Ends the payment of an order that cost nothing, when the order is canceled.
    pub fn ended_free(&self) -> Option<Payment> {
        let is_free = self.amount.is_zero() && self.status == PaymentStatus::Captured;
        is_free.then(|| self.to(PaymentStatus::Refunded))
    }

    /// Charged, and all of it promised back.
    fn charged_for_nothing(&self, amount: Won) -> Payment {
        Payment { captured: amount, promised: amount, ..self.to(PaymentStatus::RefundDue) }
    }
}

/// The only way out of `PAYING`. The confirm call, the webhook and the settling job all end here;
/// the second one to arrive finds a settled payment and does nothing. `date` is the current status
/// of the schedule.
pub fn settle(
    payment: &Payment,
    reservation: &Reservation,
    date: ScheduleStatus,
    outcome: Outcome,
    now: Timestamp,
) -> Settlement {
    match payment.status {
        PaymentStatus::Requested | PaymentStatus::Unknown => {}
        PaymentStatus::Ready | PaymentStatus::Failed | PaymentStatus::Canceled => {
            return settle_unasked(payment, &outcome);
        }
        PaymentStatus::AwaitingDeposit => {
            return settle_awaited(payment, reservation, date, outcome, now);
        }
        PaymentStatus::Captured
        | PaymentStatus::PartiallyRefunded
        | PaymentStatus::RefundDue
        | PaymentStatus::Refunded => return settle_more(payment, &outcome),
    }
    match outcome {
        // On a canceled date too: the job that closes accounts ends it.
        Outcome::AwaitingDeposit(account) => {
            Settlement::Issued { payment: payment.to(PaymentStatus::AwaitingDeposit), account }
        }
        // A capture of zero isn't a valid answer, so the outcome is unknown.
        Outcome::Captured { amount } if amount.is_zero() => {
            settle(payment, reservation, date, Outcome::Unknown, now)
        }
        Outcome::Unknown if payment.status == PaymentStatus::Unknown => Settlement::Nothing,
        Outcome::Unknown => Settlement::StillUnknown(payment.to(PaymentStatus::Unknown)),
        Outcome::NotCaptured { .. } if date == ScheduleStatus::Cancelled => Settlement::Declined {
            payment: payment.to(PaymentStatus::Failed),
            reservation: reservation.call_off(),
            reason: SHOW_CANCELED.to_owned(),
        },
        Outcome::Captured { amount } if date == ScheduleStatus::Cancelled => {
            Settlement::RefundDue {
                payment: payment.charged_for_nothing(amount),
                reservation: reservation.call_off(),
                amount,
                reason: SHOW_CANCELED,
            }
        }
        Outcome::NotCaptured { reason } => Settlement::Declined {
            payment: payment.to(PaymentStatus::Failed),
            reservation: reservation.decline(now),
            reason,
        },
        Outcome::Captured { amount } => settle_captured(payment, reservation, amount, now),
    }
}

/// A charge that nothing waits for: made after the gateway had confirmed a void, or without a
/// request. It's recorded and refunded.
fn settle_unasked(payment: &Payment, outcome: &Outcome) -> Settlement {
    match outcome {
        Outcome::Captured { amount } if !amount.is_zero() => Settlement::RefundDue {
            payment: payment.charged_for_nothing(*amount),
            reservation: Next::Same,
            amount: *amount,
            reason: TOO_LATE,
        },
        Outcome::Captured { .. }
        | Outcome::AwaitingDeposit(_)
        | Outcome::NotCaptured { .. }
        | Outcome::Unknown => Settlement::Nothing,
    }
}

fn settle_captured(
    payment: &Payment,
    reservation: &Reservation,
    amount: Won,
    now: Timestamp,
) -> Settlement {
    let excess = payment.excess(amount);
    let price = amount.checked_sub(excess);
    let is_right_amount = price == Some(payment.amount) && payment.amount == reservation.amount;
    match reservation.confirm() {
        Ok(Next::To(confirmed)) if is_right_amount => Settlement::Confirmed {
            payment: Payment { captured: amount, ..payment.to(PaymentStatus::Captured) },
            reservation: confirmed,
            excess,
        },
        // Another payment confirmed the reservation, the hold is gone, or the amount is wrong:
        // refund it. If the reservation was waiting for this payment, the fan may try again.
        Ok(Next::To(_)) => Settlement::RefundDue {
            payment: payment.charged_for_nothing(amount),
            reservation: reservation.decline(now),
            amount,
            reason: TOO_LATE,
        },
        Ok(Next::Same) | Err(_) => Settlement::RefundDue {
            payment: payment.charged_for_nothing(amount),
            reservation: Next::Same,
            amount,
            reason: TOO_LATE,
        },
    }
}

pub mod approvals;
pub mod deposits;
pub mod methods;
pub mod receipts;
pub mod refund_policy;
pub mod refunds;
pub mod resolutions;
#[cfg(test)]
mod tests;
pub mod wallet;
