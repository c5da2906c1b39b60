//! Payments: load them and store what a rule decided.

pub(crate) mod by_hand;
pub(super) mod cancel;
pub(super) mod confirm;
pub(crate) mod gateway_webhooks;
pub(crate) mod read;
mod refund;
pub(crate) mod refunds;
mod request;
mod sandbox;
pub(super) mod settle;
pub(crate) mod wallet_charges;
pub(crate) mod wallets;

use crate::sql::booking::reservations::read_reservation;
use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use podo_app::Result;
use podo_app::booking::port::reservations::Freed;
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments::port::payments::{
    CancelPayment, Canceled, Capture, ConfirmPayment, DueRefund, NeverMade, PayFromWallet,
    PaymentView, Payments, PutOffRefund, ReceiptFacts, RequestPayment, Requested, SettlePayment,
    Settled, Sold, Unsettled,
};
use podo_domain::booking::issued::Channel;
use podo_domain::booking::reservations::Reservation;
use podo_domain::catalog::ScheduleStatus;
use podo_domain::payments::{Payment, PaymentMethod, PaymentStatus};
use podo_domain::{Currency, EventId, PaymentId, RefundId, ReservationId, Timestamp, UserId, Won};

commands! {
    impl Payments for SqlStore {
        write_in_batch request_payment(RequestPayment)
            -> Idempotent<Requested> as Sales => request::request;
        write_in_batch confirm_payment(ConfirmPayment)
            -> Idempotent<Capture> as Sales => confirm::confirm;
        write_in_batch pay_from_wallet(PayFromWallet)
            -> Idempotent<Box<Sold>> as Sales => confirm::pay_from_wallet;
        write_in_batch settle_payment(SettlePayment) -> Settled as Sales => settle::apply;
        write take_unsettled(TakeUnsettled { asked_before: Timestamp, now: Timestamp, limit: u32 })
            -> Vec<Unsettled> as Worker => read::take_unsettled;
        write take_never_made(NeverMade) -> Vec<Unsettled> as Worker => read::take_never_made;
        write cancel_payment(CancelPayment)
            -> Idempotent<(Canceled, Freed)> as Sales => cancel::cancel;
        write take_due_refunds(TakeDueRefunds { now: Timestamp, until: Timestamp, limit: u32 })
            -> Vec<DueRefund> as Worker => refund::take;
        write finish_refund(FinishRefund { refund: RefundId, now: Timestamp })
            -> () as Worker => refund::finish;
        write put_off_refund(PutOffRefund) -> () as Worker => refund::put_off;
        read payment(PaymentOf { payment: PaymentId, user: UserId })
            -> Option<PaymentView> as Sales or_replica => read::view;
        read receipt_facts(ReceiptOf { reservation: ReservationId, user: UserId })
            -> Option<ReceiptFacts> as Sales or_replica => read::receipt_facts;
        read payment_of(CapturedPaymentOf { reservation: ReservationId, user: UserId })
            -> Option<PaymentId> as Sales => read::captured_payment;

        command StartRefund {
            refund: RefundId, attempts: u32, book_before: Won, until: Timestamp, now: Timestamp,
        } -> () as Worker => refund::start;

        async fn start_refund(
            &self,
            refund: &DueRefund,
            book_before: Won,
            until: Timestamp,
            now: Timestamp,
        ) -> Result<()> {
            let (refund, attempts) = (refund.refund, refund.attempts);
            self.write(StartRefund { refund, attempts, book_before, until, now }).await
        }
    }
}

/// A payment row with the columns that rules need beside it.
pub(super) struct PaymentRow {
    pub(super) payment: Payment,
    pub(super) reservation: ReservationId,
    pub(super) user: UserId,
    pub(super) currency: Currency,
    pub(super) gateway: Option<String>,
    pub(super) gateway_ref: Option<String>,
    pub(super) confirm_key: Option<String>,
}

pub(super) async fn load(tx: &mut dyn Tx, id: PaymentId) -> Result<Option<PaymentRow>> {
    let sql = "select id as payment_id, method, status as payment_status, amount as payment_amount,
                      captured, refunded, promised, reservation_id, user_id as payer_id,
                      gateway, gateway_ref, confirm_key, currency
                 from payments where id = $1";
    tx.row(sql, params![id]).await?.as_ref().map(read_payment).transpose()
}

fn read_payment(row: &Row) -> Result<PaymentRow> {
    let payment = Payment {
        id: row.get("payment_id")?,
        method: row.parse("method", PaymentMethod::parse)?,
        status: row.parse("payment_status", PaymentStatus::parse)?,
        amount: row.get("payment_amount")?,
        captured: row.get("captured")?,
        refunded: row.get("refunded")?,
        promised: row.get("promised")?,
    };
    Ok(PaymentRow {
        payment,
        reservation: row.get("reservation_id")?,
        user: row.get("payer_id")?,
        currency: row.parse("currency", Currency::parse)?,
        gateway: row.get("gateway")?,
        gateway_ref: row.get("gateway_ref")?,
        confirm_key: row.get("confirm_key")?,
    })
}

/// Messages about an order of the desk say so: its `userId` is the organiser who issued it. An order
/// without money has no refund.
fn name_desk(payload: &mut serde_json::Value, method: PaymentMethod) {
    if method == PaymentMethod::BoxOffice {
        payload["channel"] = serde_json::json!(Channel::BoxOffice);
    }
}

/// A payment with its reservation, its event and the status of its date.
pub(super) struct Purchase {
    pub(super) row: PaymentRow,
    pub(super) reservation: Reservation,
    pub(super) date: ScheduleStatus,
    pub(super) event: EventId,
}

pub(super) async fn load_purchase(tx: &mut dyn Tx, id: PaymentId) -> Result<Option<Purchase>> {
    let sql = "select p.id as payment_id, p.method, p.status as payment_status,
                      p.amount as payment_amount, p.captured, p.refunded, p.promised,
                      p.reservation_id, p.user_id as payer_id, p.gateway, p.gateway_ref,
                      p.confirm_key,
                      r.id, r.user_id, r.schedule_id, r.status, r.hold_expires_at, r.amount,
                      r.version, r.payment_window_given, r.retry_window_given, r.place_number,
                      r.phase_id, r.order_fee, r.promotion_id, r.channel, r.currency,
                      s.status as schedule_status,
                      s.event_id
                 from payments p join reservations r on r.id = p.reservation_id
                 join event_schedules s on s.id = r.schedule_id
                where p.id = $1";
    let Some(row) = tx.row(sql, params![id]).await? else { return Ok(None) };
    Ok(Some(Purchase {
        row: read_payment(&row)?,
        reservation: read_reservation(&row)?,
        date: row.parse("schedule_status", ScheduleStatus::parse)?,
        event: row.get("event_id")?,
    }))
}

/// Stores a new payment with its history: it was chosen, and a wallet has paid as well.
async fn insert(
    tx: &mut dyn Tx,
    reservation: &Reservation,
    payment: &Payment,
    gateway: Option<&'static str>,
    now: Timestamp,
) -> Result<()> {
    let sql = "insert into payments
                 (id, reservation_id, user_id, method, gateway, status, amount, captured,
                  created_at, updated_at, currency)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10)";
    let values = params![
        payment.id,
        reservation.id,
        reservation.user,
        payment.method.as_str(),
        gateway,
        payment.status.as_str(),
        payment.amount,
        payment.captured,
        now,
        reservation.currency.as_str()
    ];
    tx.add(sql, vec![values.to_vec()]).await?;
    let chosen = "insert into payment_history (payment_id, step, status, amount, created_at)
                  values ($1, 1, 'READY', 0, $2)";
    tx.add(chosen, vec![params![payment.id, now].to_vec()]).await?;
    if payment.status == PaymentStatus::Ready {
        return Ok(());
    }
    let paid = "insert into payment_history (payment_id, step, status, amount, created_at)
                values ($1, 2, $2, $3, $4)";
    let values = params![payment.id, payment.status.as_str(), payment.captured, now];
    Ok(tx.add(paid, vec![values.to_vec()]).await?)
}

/// Stores the step from `before` to `after` and its history row; a concurrent change is a conflict.
pub(super) async fn store(
    tx: &mut dyn Tx,
    before: &Payment,
    after: &Payment,
    now: Timestamp,
) -> Result<()> {
    let sql = "update payments set status = $3, captured = $4, refunded = $5, promised = $6,
                                   updated_at = $7
                where id = $1 and status = $2 and refunded = $8 and promised = $9";
    let values = params![
        before.id,
        before.status.as_str(),
        after.status.as_str(),
        after.captured,
        after.refunded,
        after.promised,
        now,
        before.refunded,
        before.promised
    ];
    tx.change(sql, vec![values.to_vec()]).await?;
    record(tx, after, moved(before, after), now).await
}

/// The amount that a step moved.
fn moved(before: &Payment, after: &Payment) -> Won {
    let captured = after.captured.checked_sub(before.captured).unwrap_or(Won::ZERO);
    let refunded = after.refunded.checked_sub(before.refunded).unwrap_or(Won::ZERO);
    if captured.is_zero() { refunded } else { captured }
}

async fn record(tx: &mut dyn Tx, payment: &Payment, amount: Won, now: Timestamp) -> Result<()> {
    let sql = "insert into payment_history (payment_id, step, status, amount, created_at)
               values ($1, (select coalesce(max(step), 0) + 1 from payment_history
                             where payment_id = $1), $2, $3, $4)";
    let values = params![payment.id, payment.status.as_str(), amount, now];
    Ok(tx.add(sql, vec![values.to_vec()]).await?)
}

/// Cancels a payment that is only prepared, so no money can have moved.
pub(super) async fn cancel_ready(
    tx: &mut dyn Tx,
    reservation: ReservationId,
    now: Timestamp,
) -> Result<()> {
    // Find and read in one statement: between two, a concurrent confirm could change the status.
    let sql = "select id as payment_id, method, status as payment_status, amount as payment_amount,
                      captured, refunded, promised, reservation_id, user_id as payer_id,
                      gateway, gateway_ref, confirm_key, currency
                 from payments where reservation_id = $1 and status = 'READY'";
    let Some(row) = tx.row(sql, params![reservation]).await? else { return Ok(()) };
    let ready = read_payment(&row)?;
    store(tx, &ready.payment, &ready.payment.canceled(), now).await
}
