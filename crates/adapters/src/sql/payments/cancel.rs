//! Canceling what was paid: seats free, tickets void, money back.

use super::super::keys;
use super::super::outbox::{self, Outgoing};
use super::super::reservations::{self, free_seats};
use super::super::tx::{Tx, work};
use super::super::value::params;
use super::super::wallets::{self, Move};
use super::settle::owe;
use super::{PaymentRow, load, store};
use app::ports::keys::Once;
use app::ports::payments::{CancelPayment, Canceled};
use app::ports::reservations::Freed;
use app::{Error, Result};
use domain::messages::MessageKind;
use domain::payments::{Payment, PaymentMethod};
use domain::reservations::{Next, Reservation};
use domain::wallet::LedgerKind;
use domain::{RefundId, Refusal, Timestamp, Won};
use serde_json::json;

work!(Sales: CancelPayment => cancel, Once<(Canceled, Freed)>);

async fn cancel(tx: &mut dyn Tx, command: &CancelPayment) -> Result<Once<(Canceled, Freed)>> {
    if let Some(answer) = keys::find(tx, &command.key).await? {
        return Ok(Once::Replay(answer));
    }
    let found = load(tx, command.payment).await?;
    let row = found.filter(|found| found.user == command.user).ok_or(Refusal::NotFound)?;
    let reservation = reservations::load(tx, row.reservation).await?;
    let reservation = reservation.ok_or_else(|| Error::broken("a payment of no reservation"))?;
    let Next::To(canceled) = reservation.cancel()? else {
        return Err(Refusal::AlreadyCanceled.into());
    };
    let amount = row.payment.refundable();
    let due = row.payment.refund_due(amount)?;
    store(tx, &row.payment, &due, command.now).await?;
    owe(tx, &row, command.refund, amount, (&command.reason, command.now)).await?;
    let after = match row.payment.method {
        PaymentMethod::Wallet => {
            pay_back(tx, &PaymentRow { payment: due, ..row }, command.refund, amount, command.now)
                .await?
        }
        PaymentMethod::Card => due,
    };
    let freed = give_up(tx, &canceled, command.now).await?;
    let answer = Canceled {
        payment_id: after.id,
        status: after.status,
        reservation_id: canceled.id,
        reservation_status: canceled.status,
        refund_id: command.refund,
        refund_amount: amount,
    };
    keys::store(tx, &command.key, &answer, command.now).await?;
    Ok(Once::Fresh((answer, freed)))
}

/// The seats go back on sale and the tickets end.
async fn give_up(tx: &mut dyn Tx, canceled: &Reservation, now: Timestamp) -> Result<Freed> {
    let kind = MessageKind::ReservationCanceled;
    let seats = reservations::store(tx, canceled, kind, now).await?;
    let sql = "update tickets set status = 'VOID', updated_at = $2
                where reservation_id = $1 and status = 'VALID'";
    tx.execute(sql, params![canceled.id, now]).await?;
    free_seats(tx, canceled, &seats).await
}

/// Keeps the promise of a refund: to the wallet if that is where the money came from. Harmless
/// for a refund that is done.
pub(super) async fn pay_back(
    tx: &mut dyn Tx,
    row: &PaymentRow,
    refund: RefundId,
    amount: Won,
    now: Timestamp,
) -> Result<Payment> {
    let sql = "update refunds set status = 'REFUNDED', updated_at = $2
                where id = $1 and status = 'DUE'";
    if tx.execute(sql, params![refund, now]).await? == 0 {
        return Ok(row.payment.clone());
    }
    let after = row.payment.refunded(amount)?;
    store(tx, &row.payment, &after, now).await?;
    if row.payment.method == PaymentMethod::Wallet {
        let (user, reference) = (row.user, refund.uuid());
        let movement = Move { user, kind: LedgerKind::Refund, amount, reference, now };
        wallets::apply(tx, &movement).await?;
    }
    let payload = json!({
        "refundId": refund, "paymentId": after.id, "userId": row.user, "amount": amount,
    });
    let message = Outgoing {
        kind: MessageKind::PaymentRefunded,
        aggregate: refund.uuid(),
        seq: 2,
        key: row.reservation.uuid(),
        payload: &payload,
    };
    outbox::push(tx, message, now).await?;
    Ok(after)
}
