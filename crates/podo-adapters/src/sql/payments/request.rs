//! Prepares a payment: the intent is stored before any money can move.

use crate::sql::booking::reservations;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use crate::sql::operations::idempotency;
use crate::sql::payments::{cancel_ready, record};
use podo_app::Result;
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments::port::payments::{PaymentReady, RequestPayment, Requested};
use podo_domain::booking::reservations::{Next, Reservation};
use podo_domain::booking::seats::SeatState;
use podo_domain::id::SeatIndex;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::payments::{Payment, PaymentStatus};
use podo_domain::{Refusal, Won};

pub(super) async fn request(
    tx: &mut dyn Tx,
    command: &RequestPayment,
) -> Result<Idempotent<Requested>> {
    if let Some(answer) = idempotency::find(tx, &command.key).await? {
        return Ok(Idempotent::Replay(answer));
    }
    let found = reservations::load_with_date(tx, command.reservation).await?;
    let found = found.filter(|(found, _)| found.user == command.user);
    let (reservation, date) = found.ok_or(Refusal::NotFound)?;
    date.refuse_canceled()?;
    let (reservation, extended) = give_time(tx, reservation, command).await?;
    // A new choice of payment method replaces the earlier one.
    cancel_ready(tx, reservation.id, command.now).await?;
    insert(tx, &reservation, command).await?;
    let ready = PaymentReady {
        payment_id: command.payment,
        order_id: command.payment.order_id(),
        amount: reservation.amount,
        status: PaymentStatus::Ready,
        hold_expires_at: reservation.hold_expires_at,
        checkout: command.checkout.clone(),
    };
    idempotency::store(tx, (&command.key, Some(command.payment.uuid())), &ready, command.now)
        .await?;
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

async fn insert(
    tx: &mut dyn Tx,
    reservation: &Reservation,
    command: &RequestPayment,
) -> Result<()> {
    let sql = "insert into payments
                 (id, reservation_id, user_id, method, gateway, status, amount, created_at,
                  updated_at)
               values ($1, $2, $3, $4, $5, 'READY', $6, $7, $7)";
    let values = params![
        command.payment,
        reservation.id,
        command.user,
        command.method.as_str(),
        command.gateway,
        reservation.amount,
        command.now
    ];
    tx.add(sql, vec![values.to_vec()]).await?;
    let payment = Payment {
        id: command.payment,
        method: command.method,
        status: PaymentStatus::Ready,
        amount: reservation.amount,
        captured: Won::ZERO,
        refunded: Won::ZERO,
        promised: Won::ZERO,
    };
    record(tx, &payment, Won::ZERO, command.now).await
}
