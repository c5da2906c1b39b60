//! The life of a reservation: `HELD → PAYING → CONFIRMED → CANCELED`, or `EXPIRED` / `RELEASED`.
//! One function per verb; repeating a verb changes nothing.

use crate::booking::issued::Channel;
use crate::booking::seats::SEATS_PER_PICK_MAX;
use crate::payments::{Payee, PaymentMethod};
use crate::waiting_room::PlaceNumber;
use crate::{
    Currency, PhaseId, PromotionId, Refusal, ReservationId, ScheduleId, SeatId, Timestamp, UserId,
    Won,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Minimum time for the gateway's page, granted once.
pub const PAYMENT_WINDOW: Duration = Duration::from_secs(5 * 60);

/// Minimum time that the seats stay held after a declined card, granted once.
pub const RETRY_WINDOW: Duration = Duration::from_secs(2 * 60);

// A declined fan must not get more time than a fresh one.
const _: () = assert!(RETRY_WINDOW.as_secs() < PAYMENT_WINDOW.as_secs());

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum ReservationStatus {
    Held,
    Paying,
    Confirmed,
    Canceled,
    Expired,
    Released,
}

impl ReservationStatus {
    pub const ALL: [ReservationStatus; 6] = [
        ReservationStatus::Held,
        ReservationStatus::Paying,
        ReservationStatus::Confirmed,
        ReservationStatus::Canceled,
        ReservationStatus::Expired,
        ReservationStatus::Released,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            ReservationStatus::Held => "HELD",
            ReservationStatus::Paying => "PAYING",
            ReservationStatus::Confirmed => "CONFIRMED",
            ReservationStatus::Canceled => "CANCELED",
            ReservationStatus::Expired => "EXPIRED",
            ReservationStatus::Released => "RELEASED",
        }
    }

    pub fn parse(text: &str) -> Option<ReservationStatus> {
        ReservationStatus::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// Whether a reservation in this state claims its seats.
    pub const fn claims_seats(self) -> bool {
        match self {
            ReservationStatus::Held | ReservationStatus::Paying | ReservationStatus::Confirmed => {
                true
            }
            ReservationStatus::Canceled
            | ReservationStatus::Expired
            | ReservationStatus::Released => false,
        }
    }

    /// The edges of the state machine (I5).
    pub const fn may_become(self, next: ReservationStatus) -> bool {
        use ReservationStatus::{Canceled, Confirmed, Expired, Held, Paying, Released};
        match self {
            // An extended hold stays a hold, with a new version. A wallet payment is one
            // transaction, so PAYING is never visible.
            Held => matches!(next, Held | Paying | Confirmed | Expired | Released),
            Paying => matches!(next, Held | Confirmed | Canceled | Expired),
            Confirmed => matches!(next, Confirmed | Canceled),
            Canceled | Expired | Released => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    pub id: ReservationId,
    pub user: UserId,
    /// Who made it: the fan, or an organiser for a customer without an account.
    pub channel: Channel,
    pub schedule: ScheduleId,
    /// The phase that sold it, on a date with phases.
    pub phase: Option<PhaseId>,
    /// The place in the queue whose entry permitted it.
    pub place: PlaceNumber,
    pub status: ReservationStatus,
    pub hold_expires_at: Timestamp,
    pub amount: Won,
    /// The part of the amount that belongs to no seat.
    pub order_fee: Won,
    /// The event's, in which the amounts are.
    pub currency: Currency,
    /// The promotion code that the order uses.
    pub promotion: Option<PromotionId>,
    /// Counts the changes; also the number of the message about the latest one.
    pub version: i64,
    /// Whether the time for the gateway's page has been granted.
    pub payment_window_given: bool,
    /// Whether the time for a second card has been granted.
    pub retry_window_given: bool,
}

/// The effect of a verb on a reservation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// It was done before: nothing to store and nothing to publish.
    Same,
    To(Reservation),
}

impl Reservation {
    /// False from the very millisecond at which the hold ends.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.status == ReservationStatus::Held && now < self.hold_expires_at
    }

    /// The waiting room that admitted the fan: the phase's, or the date's if it has no phases.
    pub fn room(&self) -> ScheduleId {
        self.phase.map_or(self.schedule, PhaseId::room)
    }

    fn next(&self, status: ReservationStatus) -> Reservation {
        assert!(self.status.may_become(status), "{:?} cannot become {status:?}", self.status);
        Reservation { status, version: self.version + 1, ..self.clone() }
    }

    fn refuse_unless_live(&self, now: Timestamp) -> Result<(), Refusal> {
        match self.status {
            ReservationStatus::Held if now < self.hold_expires_at => Ok(()),
            ReservationStatus::Held | ReservationStatus::Expired | ReservationStatus::Released => {
                Err(Refusal::HoldOver)
            }
            ReservationStatus::Paying => Err(Refusal::PaymentRunning),
            ReservationStatus::Confirmed => Err(Refusal::AlreadyPaid),
            ReservationStatus::Canceled => Err(Refusal::AlreadyCanceled),
        }
    }

    /// The fan chose a payment method: the hold is extended for the gateway's page, once. A wallet
    /// pays immediately and gets no extra time.
    pub fn give_payment_window(
        &self,
        method: PaymentMethod,
        now: Timestamp,
    ) -> Result<Next, Refusal> {
        self.refuse_unless_live(now)?;
        let until = match method.payee() {
            Payee::Gateway => self.hold_expires_at.max(now.plus(PAYMENT_WINDOW)),
            Payee::Wallet | Payee::BoxOffice => self.hold_expires_at,
        };
        if self.payment_window_given || until == self.hold_expires_at {
            return Ok(Next::Same);
        }
        Ok(Next::To(Reservation {
            hold_expires_at: until,
            payment_window_given: true,
            ..self.next(ReservationStatus::Held)
        }))
    }

    /// Money is about to move: from here on only the outcome decides.
    pub fn start_paying(&self, now: Timestamp) -> Result<Reservation, Refusal> {
        self.refuse_unless_live(now)?;
        Ok(self.next(ReservationStatus::Paying))
    }

    /// The wallet pays in the same transaction, without a state in between.
    pub fn pay_at_once(&self, now: Timestamp) -> Result<Reservation, Refusal> {
        self.refuse_unless_live(now)?;
        Ok(self.next(ReservationStatus::Confirmed))
    }

    /// The money arrived. `HoldOver` means that there are no seats for it and it must be refunded.
    pub fn confirm(&self) -> Result<Next, Refusal> {
        match self.status {
            ReservationStatus::Paying => Ok(Next::To(self.next(ReservationStatus::Confirmed))),
            ReservationStatus::Confirmed => Ok(Next::Same),
            ReservationStatus::Held
            | ReservationStatus::Canceled
            | ReservationStatus::Expired
            | ReservationStatus::Released => Err(Refusal::HoldOver),
        }
    }

    /// The gateway declined for good: the fan may retry for the rest of the hold, and for at least
    /// two minutes the first time.
    pub fn decline(&self, now: Timestamp) -> Next {
        if self.status != ReservationStatus::Paying {
            return Next::Same;
        }
        let until = if self.retry_window_given {
            self.hold_expires_at
        } else {
            self.hold_expires_at.max(now.plus(RETRY_WINDOW))
        };
        if until <= now {
            return Next::To(self.next(ReservationStatus::Expired));
        }
        Next::To(Reservation {
            hold_expires_at: until,
            retry_window_given: true,
            ..self.next(ReservationStatus::Held)
        })
    }

    /// The deposit didn't come in time. The fan is away, so the seats aren't kept for another try.
    pub fn miss_deposit(&self) -> Next {
        match self.status {
            ReservationStatus::Paying => Next::To(self.next(ReservationStatus::Expired)),
            ReservationStatus::Held
            | ReservationStatus::Confirmed
            | ReservationStatus::Canceled
            | ReservationStatus::Expired
            | ReservationStatus::Released => Next::Same,
        }
    }

    /// The date is canceled, so the requested payment buys nothing. A hold expires by itself.
    pub fn call_off(&self) -> Next {
        match self.status {
            ReservationStatus::Paying => Next::To(self.next(ReservationStatus::Canceled)),
            ReservationStatus::Held
            | ReservationStatus::Confirmed
            | ReservationStatus::Canceled
            | ReservationStatus::Expired
            | ReservationStatus::Released => Next::Same,
        }
    }

    /// The fan releases the seats before paying.
    pub fn release(&self) -> Result<Next, Refusal> {
        match self.status {
            ReservationStatus::Held => Ok(Next::To(self.next(ReservationStatus::Released))),
            ReservationStatus::Released | ReservationStatus::Expired => Ok(Next::Same),
            ReservationStatus::Paying => Err(Refusal::PaymentRunning),
            ReservationStatus::Confirmed => Err(Refusal::AlreadyPaid),
            ReservationStatus::Canceled => Err(Refusal::AlreadyCanceled),
        }
    }

    /// Expires a hold. A payment in progress keeps its seats.
    pub fn expire(&self, now: Timestamp) -> Next {
        if self.status == ReservationStatus::Held && self.hold_expires_at <= now {
            Next::To(self.next(ReservationStatus::Expired))
        } else {
            Next::Same
        }
    }

    /// The fan chose ticket types or a promotion code: the order has another amount from now on.
    pub fn reprice(
        &self,
        amount: Won,
        order_fee: Won,
        promotion: Option<PromotionId>,
        now: Timestamp,
    ) -> Result<Reservation, Refusal> {
        self.refuse_unless_live(now)?;
        Ok(Reservation { amount, order_fee, promotion, ..self.next(ReservationStatus::Held) })
    }

    /// Cancels some seats of a paid reservation. `given` is what they cost; `order_fee` is what is
    /// left of the order's fee, which the last ticket that costs something takes with it.
    pub fn cancel_part(&self, given: Won, order_fee: Won) -> Result<Reservation, Refusal> {
        match self.cancel()? {
            Next::To(_) => {
                let amount = self.amount.checked_sub(given).ok_or(Refusal::NothingToRefund)?;
                Ok(Reservation { amount, order_fee, ..self.next(ReservationStatus::Confirmed) })
            }
            Next::Same => Err(Refusal::AlreadyCanceled),
        }
    }

    /// The booking gets other seats.
    pub fn reseat(&self) -> Result<Reservation, Refusal> {
        match self.cancel()? {
            Next::To(_) => Ok(self.next(ReservationStatus::Confirmed)),
            Next::Same => Err(Refusal::AlreadyCanceled),
        }
    }

    /// Cancels a paid reservation entirely.
    pub fn cancel(&self) -> Result<Next, Refusal> {
        match self.status {
            ReservationStatus::Confirmed => Ok(Next::To(self.next(ReservationStatus::Canceled))),
            ReservationStatus::Canceled => Ok(Next::Same),
            ReservationStatus::Paying => Err(Refusal::PaymentRunning),
            ReservationStatus::Held | ReservationStatus::Expired | ReservationStatus::Released => {
                Err(Refusal::NotPaid)
            }
        }
    }
}

/// One seat of a booking and the one that replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeatMove {
    pub from: SeatId,
    pub to: SeatId,
}

/// One to ten moves within a schedule; no seat is named twice.
pub fn check_moves(schedule: ScheduleId, moves: &[SeatMove]) -> Result<(), Refusal> {
    if moves.is_empty() {
        return Err(Refusal::NoSeats);
    }
    if moves.len() > SEATS_PER_PICK_MAX {
        return Err(Refusal::TooManySeats { max: SEATS_PER_PICK_MAX });
    }
    let mut named: Vec<SeatId> = moves.iter().flat_map(|it| [it.from, it.to]).collect();
    if named.iter().any(|seat| seat.schedule() != schedule) {
        return Err(Refusal::ForeignSeat);
    }
    named.sort_unstable();
    if named.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Refusal::SeatRepeated);
    }
    Ok(())
}

/// Whether a paid seat may be exchanged for one of another grade at these list prices. An organiser
/// who waives the difference moves the fan anyway; what the fan paid stays.
pub fn check_move_price(paid_for: Won, new: Won, is_waived: bool) -> Result<(), Refusal> {
    if paid_for == new || is_waived {
        return Ok(());
    }
    Err(Refusal::ReseatOtherPrice)
}

/// Whether a person with `n_active` seats of a schedule may take `n_more` (I4).
pub fn check_seat_limit(n_active: u32, n_more: u32, max: u32) -> Result<(), Refusal> {
    if n_active.saturating_add(n_more) > max {
        return Err(Refusal::SeatLimit { max });
    }
    Ok(())
}

/// Whether the date or its phase permits an order of this size.
pub fn check_order_size(n_seats: u32, max: u32) -> Result<(), Refusal> {
    if n_seats > max {
        return Err(Refusal::TooManySeats { max: max as usize });
    }
    Ok(())
}

/// Unpaid holds that a fan may have in [`CHURN_WINDOW`] before they must pause.
pub const CHURN_MAX: u32 = 5;
pub const CHURN_WINDOW: Duration = Duration::from_secs(3_600);

/// The length of the pause, from the end of the last unpaid hold.
pub const CHURN_PAUSE: Duration = Duration::from_secs(600);

/// Whether a fan may hold seats again after `n_unpaid` unpaid holds of this schedule within the
/// window, the last of which ended at `last`. Repeated holds without a purchase block seats for
/// other fans (OAT-021).
pub fn check_churn(n_unpaid: u32, last: Option<Timestamp>, now: Timestamp) -> Result<(), Refusal> {
    let again_at = last.map_or(now, |last| last.plus(CHURN_PAUSE));
    if n_unpaid < CHURN_MAX || again_at <= now {
        return Ok(());
    }
    let pause_ms = again_at.since(now).as_millis() as u64;
    Err(Refusal::HoldChurn { retry_after_s: pause_ms.div_ceil(1_000) })
}

/// A number that people can read out: the day in Seoul and six letters and digits without
/// look-alikes. `random` is any random number; a unique index catches collisions.
pub fn booking_number(now: Timestamp, random: u64) -> String {
    const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let code: String =
        (0..6).map(|step| LETTERS[(random >> (5 * step)) as usize % 32] as char).collect();
    format!("B-{}-{code}", now.seoul_day())
}

#[cfg(test)]
#[path = "reservations_tests.rs"]
mod tests;
