//! Prepares a payment: the intent is stored before any money can move.

use crate::sql::booking::reservations;
use crate::sql::engine::tx::Tx;
use crate::sql::operations::idempotency;
use crate::sql::payments::settle::deposits;
use crate::sql::payments::{cancel_ready, insert};
use podo_app::Result;
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments::port::payments::{PaymentReady, RequestPayment, Requested};
use podo_domain::Refusal;
use podo_domain::booking::reservations::{Next, Reservation};
use podo_domain::booking::seats::SeatState;
use podo_domain::id::SeatIndex;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::payments::{Payee, Payment, PaymentStatus};

pub(super) async fn request(
    tx: &mut dyn Tx,
    command: &RequestPayment,
) -> Result<Idempotent<Requested>> {
    if let Some(answer) = idempotency::find(tx, &command.key).await? {
        return Ok(Idempotent::Replay(answer));
    }
    let found = reservations::load_with_date(tx, command.reservation).await?;
    let found = found.filter(|found| found.reservation.user == command.user);
    let found = found.ok_or(Refusal::NotFound)?;
    found.date.refuse_canceled()?;
    let is_free = found.reservation.amount.is_zero();
    match command.method.payee() {
        Payee::Gateway if is_free => return Err(Refusal::NothingToPay.into()),
        Payee::Wallet if is_free => {}
        Payee::Gateway | Payee::Wallet | Payee::BoxOffice => {
            found.offers.refuse_others(command.method)?;
        }
    }
    let (reservation, extended) = give_time(tx, found.reservation, command).await?;
    // A new choice of payment method replaces the earlier one.
    cancel_ready(tx, reservation.id, command.now).await?;
    let payment = Payment::ready(command.payment, command.method, reservation.amount);
    insert(tx, &reservation, &payment, command.gateway, command.now).await?;
    if let Some(due_at) = command.deposit_due {
        deposits::prepare(tx, command.payment, due_at, command.now).await?;
    }
    let ready = PaymentReady {
        payment_id: command.payment,
        order_id: command.payment.order_id(),
        amount: reservation.amount,
        currency: reservation.currency,
        status: PaymentStatus::Ready,
        hold_expires_at: reservation.hold_expires_at,
        checkout: command.checkout.clone(),
    };
    idempotency::store(tx, &command.key, Some(command.payment.uuid()), &ready, command.now).await?;
    Ok(Idempotent::Fresh(Requested { ready, schedule: reservation.schedule, extended }))
}

/// The extended reservation, and its seats if the hold was extended.
async fn give_time(
    tx: &mut dyn Tx,
    reservation: Reservation,
    command: &RequestPayment,
) -> Result<(Reservation, Vec<SeatIndex>)> {
    match reservation.give_payment_window(command.method, command.now)? {
        Next::Same => Ok((reservation, Vec::new())),
        Next::To(next) => {
            let kind = MessageKind::ReservationExtended;
            let seats = reservations::store(tx, &next, kind, command.now).await?;
            let until = Some(next.hold_expires_at);
            reservations::set_seats(tx, &next, &seats, SeatState::Held, until).await?;
            let seats = seats.iter().map(|seat| seat.id.index()).collect();
            Ok((next, seats))
        }
    }
}
