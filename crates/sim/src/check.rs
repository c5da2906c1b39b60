//! The checker: looks at the whole world after every step, and at the books in the end.

use crate::Violation;
use crate::money::is_open;
use crate::sales::SEATS_PER_FAN_MAX;
use crate::world::{Attempt, Booking, World};
use domain::ReservationId;
use domain::payments::{PaymentMethod, PaymentStatus};
use domain::reservations::ReservationStatus;
use domain::seats::{Seat, SeatState};
use std::collections::BTreeMap;

/// A rule that does not hold.
#[derive(Debug)]
pub(crate) struct Broken {
    rule: &'static str,
    detail: String,
}

impl Broken {
    pub(crate) fn in_run(self, seed: u64, trace: Vec<String>) -> Violation {
        Violation { seed, rule: self.rule, detail: self.detail, trace }
    }
}

type Checked = Result<(), Broken>;

fn ensure(holds: bool, rule: &'static str, detail: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(Broken { rule, detail: detail() }) }
}

pub(crate) fn after_step(world: &World) -> Checked {
    let is_claiming = |booking: &&Booking| booking.reservation.status.claims_seats();
    let claiming: Vec<&Booking> = world.bookings.values().filter(is_claiming).collect();
    for seat in &world.seats {
        check_seat(&claiming, seat)?;
    }
    for fan in 0..world.fans.len() {
        check_fan(world, fan)?;
    }
    let sums = sum_up(world);
    for (id, booking) in &world.bookings {
        check_money_of(booking, sums.get(id).copied().unwrap_or_default())?;
    }
    for attempt in world.attempts.values() {
        check_seats_kept(world, attempt)?;
        check_book_is_modest(world, attempt)?;
    }
    Ok(())
}

/// Everything has come to rest: no payment is open, and the two books say the same.
pub(crate) fn at_end(world: &World) -> Checked {
    for attempt in world.attempts.values() {
        let payment = &attempt.payment;
        ensure(!is_open(payment.status), "L1", || format!("{} is still open", payment.id))?;
        let is_owing = payment.status == PaymentStatus::RefundDue;
        ensure(!is_owing, "L1", || format!("{} is still to be refunded", payment.id))?;
        check_approved_has_seats(world, attempt)?;
        check_books_agree(world, attempt)?;
    }
    for payment in world.gateway.book().keys() {
        let is_ours = world.attempts.contains_key(payment);
        ensure(is_ours, "I12", || format!("the gateway knows {payment}, we do not"))?;
    }
    Ok(())
}

/// I1: one active claim at most. I2: the seat's row says the same as the reservation's.
fn check_seat(claiming: &[&Booking], seat: &Seat) -> Checked {
    let claims: Vec<(&Booking, i64)> = claiming
        .iter()
        .filter_map(|booking| fence_of(booking, seat).map(|fence| (*booking, fence)))
        .collect();
    let name = &seat.number;
    ensure(claims.len() <= 1, "I1", || format!("{name} is claimed {} times", claims.len()))?;
    let owner = claims
        .first()
        .map(|(booking, fence)| (booking.reservation.id, booking.reservation.status, *fence));
    let agrees = match (seat.state, owner) {
        (SeatState::Free, None) => seat.claim.is_none(),
        (SeatState::Held, Some((id, ReservationStatus::Held, fence)))
        | (SeatState::Paying, Some((id, ReservationStatus::Paying, fence)))
        | (SeatState::Sold, Some((id, ReservationStatus::Confirmed, fence))) => {
            seat.claim == Some(id) && seat.fence == fence
        }
        (SeatState::Free | SeatState::Held | SeatState::Paying | SeatState::Sold, _) => false,
    };
    ensure(agrees, "I2", || format!("{name} is {:?}, its reservation {owner:?}", seat.state))
}

fn fence_of(booking: &Booking, seat: &Seat) -> Option<i64> {
    booking.seats.iter().find(|(index, _)| *index == seat.index).map(|(_, fence)| *fence)
}

/// I4: no more seats than a person may have. I10: the balance is the sum of its movements.
fn check_fan(world: &World, fan: usize) -> Checked {
    let own = world.bookings.values().filter(|booking| booking.fan == fan);
    let live = own.filter(|booking| {
        let reservation = &booking.reservation;
        let is_over =
            reservation.status == ReservationStatus::Held && !reservation.is_live(world.now);
        reservation.status.claims_seats() && !is_over
    });
    let n_seats: usize = live.map(|booking| booking.seats.len()).sum();
    let is_within = n_seats <= SEATS_PER_FAN_MAX as usize;
    ensure(is_within, "I4", || format!("fan {fan} has {n_seats} seats"))?;
    let wallet = world.wallets[fan];
    let is_sum = wallet.balance.get() == wallet.ledger_sum;
    ensure(is_sum, "I10", || format!("fan {fan}: {wallet:?}"))
}

/// The money of one reservation, over all its payments.
#[derive(Clone, Copy, Default)]
struct Sums {
    kept: i64,
    due: i64,
    n_open: u32,
    n_captured: u32,
}

/// One pass over all payments: the checker runs after every step and must not be slow.
fn sum_up(world: &World) -> BTreeMap<ReservationId, Sums> {
    let mut sums: BTreeMap<ReservationId, Sums> = BTreeMap::new();
    for Attempt { payment, booking, .. } in world.attempts.values() {
        let sum = sums.entry(*booking).or_default();
        sum.kept += payment.captured.get() - payment.refunded.get();
        sum.n_open += u32::from(is_open(payment.status));
        sum.n_captured += u32::from(is_captured(payment.status));
    }
    for refund in world.refunds.iter().filter(|refund| !refund.is_done) {
        let booking = world.attempts[&refund.payment].booking;
        sums.entry(booking).or_default().due += refund.amount.get();
    }
    sums
}

/// I8: money we have is a ticket or on its way back. I9: one live and one captured payment.
fn check_money_of(booking: &Booking, sums: Sums) -> Checked {
    let Sums { kept, due, n_open, n_captured } = sums;
    let id = booking.reservation.id;
    let price = match booking.reservation.status {
        ReservationStatus::Confirmed => booking.reservation.amount.get(),
        ReservationStatus::Held
        | ReservationStatus::Paying
        | ReservationStatus::Canceled
        | ReservationStatus::Expired
        | ReservationStatus::Released => 0,
    };
    ensure(kept - due == price, "I8", || format!("{id}: kept {kept}, due {due}, price {price}"))?;
    ensure(n_open <= 1, "I9", || format!("{id} has {n_open} live payments"))?;
    ensure(n_captured <= 1, "I9", || format!("{id} has {n_captured} captured payments"))
}

fn is_captured(status: PaymentStatus) -> bool {
    matches!(status, PaymentStatus::Captured | PaymentStatus::PartiallyRefunded)
}

/// Q1 while it runs: as long as the outcome is open, the seats wait for it.
fn check_seats_kept(world: &World, attempt: &Attempt) -> Checked {
    let id = attempt.payment.id;
    let status = world.bookings[&attempt.booking].reservation.status;
    let keeps = !is_open(attempt.payment.status) || status == ReservationStatus::Paying;
    ensure(keeps, "Q1", || format!("{id} is under way, its reservation is {status:?}"))
}

/// Q1 in the end: who started in time and was charged the right amount had the seats.
fn check_approved_has_seats(world: &World, attempt: &Attempt) -> Checked {
    let id = attempt.payment.id;
    let is_approved = world.gateway.entry(id).captured == attempt.payment.amount.get();
    let status = world.bookings[&attempt.booking].reservation.status;
    let had_seats = matches!(status, ReservationStatus::Confirmed | ReservationStatus::Canceled);
    ensure(!is_approved || had_seats, "Q1", || format!("{id} was approved, the seats {status:?}"))
}

/// I7: nothing goes back that was not there. And we never believe in money or refunds that the
/// gateway does not know of.
fn check_book_is_modest(world: &World, attempt: &Attempt) -> Checked {
    let payment = &attempt.payment;
    let is_within = payment.refunded <= payment.captured;
    ensure(is_within, "I7", || format!("{} gave back too much: {payment:?}", payment.id))?;
    if payment.method == PaymentMethod::Wallet {
        return Ok(());
    }
    let entry = world.gateway.entry(payment.id);
    let is_within = entry.refunded <= entry.captured;
    ensure(is_within, "I7", || format!("the gateway gave back too much: {entry:?}"))?;
    let is_modest =
        payment.captured.get() <= entry.captured && payment.refunded.get() <= entry.refunded;
    ensure(is_modest, "I11", || format!("we say {payment:?}, the gateway {entry:?}"))
}

/// I11: our book is the gateway's book.
fn check_books_agree(world: &World, attempt: &Attempt) -> Checked {
    let payment = &attempt.payment;
    if payment.method == PaymentMethod::Wallet {
        return Ok(());
    }
    let entry = world.gateway.entry(payment.id);
    let agree =
        payment.captured.get() == entry.captured && payment.refunded.get() == entry.refunded;
    ensure(agree, "I11", || format!("we say {payment:?}, the gateway {entry:?}"))
}
