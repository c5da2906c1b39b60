//! Confirms a payment. A wallet pays in this transaction; for a gateway, the intent is stored so that
//! the gateway can be called.

use crate::sql::booking::reservations;
use crate::sql::booking::reservations::ReservationOnDate;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use crate::sql::operations::idempotency;
use crate::sql::payments::settle::{Sale, sell};
use crate::sql::payments::wallets;
use crate::sql::payments::wallets::Move;
use crate::sql::payments::{PaymentRow, Purchase, cancel_ready, insert, load_purchase, store};
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments::port::payments::{
    Capture, ConfirmPayment, GatewayQuery, PayFromWallet, Sold,
};
use podo_app::{Error, Result};
use podo_domain::booking::reservations::Reservation;
use podo_domain::booking::seats::SeatState;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::payments::wallet::Change;
use podo_domain::payments::{Payee, Payment, PaymentMethod};
use podo_domain::{PaymentId, Refusal, Timestamp};

pub(super) async fn confirm(
    tx: &mut dyn Tx,
    command: &ConfirmPayment,
) -> Result<Idempotent<Capture>> {
    if let Some(answer) = idempotency::find(tx, &command.key).await? {
        return Ok(Idempotent::Replay(answer));
    }
    let found = load_purchase(tx, command.payment).await?;
    let found = found.filter(|purchase| purchase.row.user == command.user);
    let purchase = found.ok_or(Refusal::NotFound)?;
    purchase.row.payment.check_confirm(command.amount)?;
    purchase.date.refuse_canceled()?;
    let capture = match purchase.row.payment.method.payee() {
        Payee::Wallet => confirm_from_wallet(tx, &purchase, command).await?,
        Payee::BoxOffice => return Err(Refusal::PaymentNotReady.into()),
        Payee::Gateway => start_capture(tx, &purchase.row, &purchase.reservation, command).await?,
    };
    Ok(Idempotent::Fresh(capture))
}

/// The wallet pays a requested payment.
async fn confirm_from_wallet(
    tx: &mut dyn Tx,
    purchase: &Purchase,
    command: &ConfirmPayment,
) -> Result<Capture> {
    let payment = &purchase.row.payment;
    let paid = purchase.reservation.pay_at_once(command.now)?;
    debit(tx, &paid, payment, command.now).await?;
    store(tx, payment, &payment.captured_at_once(), command.now).await?;
    let sale = Sale { payment: payment.id, event: purchase.event, reservation: &paid };
    let sold = sell(tx, sale, command.now).await?;
    idempotency::store(tx, &command.key, Some(payment.id.uuid()), &sold.confirmed, command.now)
        .await?;
    Ok(Capture::Sold(Box::new(sold)))
}

/// Creates a payment and lets the wallet pay it, in one step.
pub(super) async fn pay_from_wallet(
    tx: &mut dyn Tx,
    command: &PayFromWallet,
) -> Result<Idempotent<Box<Sold>>> {
    if let Some(answer) = idempotency::find(tx, &command.key).await? {
        return Ok(Idempotent::Replay(answer));
    }
    let found = reservations::load_with_date(tx, command.reservation).await?;
    let found = found.filter(|found| found.reservation.user == command.user);
    let found = found.ok_or(Refusal::NotFound)?;
    found.date.refuse_canceled()?;
    let ready = Payment::ready(command.payment, PaymentMethod::Wallet, found.reservation.amount);
    ready.check_confirm(command.amount)?;
    if !ready.amount.is_zero() {
        found.offers.refuse_others(ready.method)?;
    }
    let sold = pay_at_once(tx, &found, command.payment, command.now).await?;
    idempotency::store(tx, &command.key, Some(ready.id.uuid()), &sold.confirmed, command.now)
        .await?;
    Ok(Idempotent::Fresh(Box::new(sold)))
}

/// The wallet pays a hold, and the seats are sold.
pub(crate) async fn pay_at_once(
    tx: &mut dyn Tx,
    found: &ReservationOnDate,
    payment: PaymentId,
    now: Timestamp,
) -> Result<Sold> {
    let paid = found.reservation.pay_at_once(now)?;
    let ready = Payment::ready(payment, PaymentMethod::Wallet, paid.amount);
    // A payment that was prepared before, perhaps by another method, is replaced.
    cancel_ready(tx, paid.id, now).await?;
    debit(tx, &paid, &ready, now).await?;
    insert(tx, &paid, &ready.captured_at_once(), None, now).await?;
    let sale = Sale { payment: ready.id, event: found.event, reservation: &paid };
    sell(tx, sale, now).await
}

/// An organiser took the money, or gives the tickets away.
pub(crate) async fn pay_at_desk(
    tx: &mut dyn Tx,
    found: &ReservationOnDate,
    payment: PaymentId,
    now: Timestamp,
) -> Result<Sold> {
    let paid = found.reservation.pay_at_once(now)?;
    let ready = Payment::ready(payment, PaymentMethod::BoxOffice, paid.amount);
    insert(tx, &paid, &ready.captured_at_once(), None, now).await?;
    let sale = Sale { payment, event: found.event, reservation: &paid };
    sell(tx, sale, now).await
}

async fn debit(
    tx: &mut dyn Tx,
    reservation: &Reservation,
    payment: &Payment,
    now: Timestamp,
) -> Result<()> {
    // A free order moves no money, so the ledger has nothing to say about it.
    if payment.amount.is_zero() {
        return Ok(());
    }
    let movement = Move {
        user: reservation.user,
        change: Change::Debit(payment.amount),
        currency: reservation.currency,
        reference: payment.id.uuid(),
        now,
    };
    wallets::apply(tx, &movement).await.map(drop)
}

async fn start_capture(
    tx: &mut dyn Tx,
    row: &PaymentRow,
    reservation: &Reservation,
    command: &ConfirmPayment,
) -> Result<Capture> {
    let gateway =
        row.gateway.clone().ok_or_else(|| Error::broken("a payment through a gateway names it"))?;
    // What the gateway sent us itself takes precedence over what the fan's browser sent.
    let approval = row.gateway_ref.clone().or_else(|| command.payment_key.clone());
    let payment_key = approval.ok_or(Refusal::PaymentKeyMissing)?;
    let paying = reservation.start_paying(command.now)?;
    let kind = MessageKind::ReservationPaying;
    let seats = reservations::store(tx, &paying, kind, command.now).await?;
    reservations::set_seats(tx, &paying, &seats, SeatState::Paying, None).await?;
    store(tx, &row.payment, &row.payment.requested(), command.now).await?;
    let sql = "update payments set gateway_ref = $2, confirm_key = $3, requested_at = $4,
                                   asked_at = $4, updated_at = $4
                where id = $1";
    let values = params![row.payment.id, &payment_key, &command.key.key, command.now];
    tx.execute(sql, values).await?;
    idempotency::start(tx, &command.key, command.payment.uuid(), command.now).await?;
    Ok(Capture::Ask(GatewayQuery {
        payment: row.payment.id,
        gateway,
        method: row.payment.method,
        payment_key: Some(payment_key),
        amount: row.payment.amount,
        currency: row.currency,
    }))
}
