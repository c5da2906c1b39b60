//! Queries for payments' owners and the reconciler.

use crate::sql::booking::reservations::bought_seats;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::payments::settle::deposits;
use crate::sql::payments::{CapturedPaymentOf, PaymentOf, ReceiptOf, TakeUnsettled};
use podo_app::booking::port::reservations::lines_of;
use podo_app::payments::port::deposits::DepositView;
use podo_app::payments::port::payments::{
    GatewayQuery, NeverMade, PaymentStep, PaymentView, ReceiptFacts, RefundView, Unsettled,
};
use podo_app::{Error, Result};
use podo_domain::payments::refunds::{RefundStatus, RefundTo};
use podo_domain::payments::{PaymentMethod, PaymentStatus};
use podo_domain::{Currency, PaymentId, Won};

/// Marks the payments as queried, so that two nodes don't query the gateway for the same one.
///
/// The age of a payment counts from the first query, not from its request. The node that stored the
/// request may have been suspended, with a clock that lagged by minutes; by its time, a payment
/// would be old enough to be voided while the charge is still on its way to the gateway.
pub(super) async fn take_unsettled(
    tx: &mut dyn Tx,
    command: &TakeUnsettled,
) -> Result<Vec<Unsettled>> {
    let sql = "update payments
                  set asked_at = $2, updated_at = $2,
                      first_asked_at = coalesce(first_asked_at, $2)
                where id in (select id from payments p
                              where status in ('REQUESTED', 'UNKNOWN') and asked_at <= $1
                                and coalesce((select f.next_at from job_failures f
                                                 where f.job = 'settle' and f.item = p.id), $2) <= $2
                              order by asked_at limit $3 /* skip locked */)
               returning id, gateway, method, gateway_ref, amount, currency, first_asked_at";
    let values = params![command.asked_before, command.now, command.limit];
    tx.query(sql, values).await?.iter().map(read_unsettled).collect()
}

pub(super) async fn take_never_made(tx: &mut dyn Tx, asked: &NeverMade) -> Result<Vec<Unsettled>> {
    let sql = "update payments set asked_at = $2, updated_at = $2
                where id in (select id from payments
                              where status = 'FAILED' and failure_reason = 'NOT_FOUND'
                                and asked_at <= $1 and requested_at > $3
                              order by asked_at limit $4 /* skip locked */)
               returning id, gateway, method, gateway_ref, amount, currency,
                         coalesce(first_asked_at, requested_at) as first_asked_at";
    let values = params![asked.asked_before, asked.now, asked.requested_after, asked.limit];
    tx.query(sql, values).await?.iter().map(read_unsettled).collect()
}

fn read_unsettled(row: &Row) -> Result<Unsettled> {
    let gateway: Option<String> = row.get("gateway")?;
    Ok(Unsettled {
        ask: GatewayQuery {
            payment: row.get("id")?,
            gateway: gateway.unwrap_or_default(),
            method: row.parse("method", PaymentMethod::parse)?,
            payment_key: row.get("gateway_ref")?,
            amount: row.get("amount")?,
            currency: row.parse("currency", Currency::parse)?,
        },
        first_asked_at: row.get("first_asked_at")?,
    })
}

pub(super) async fn view(tx: &mut dyn Tx, question: &PaymentOf) -> Result<Option<PaymentView>> {
    let sql = "select id, reservation_id, method, paid_with, gateway, status, amount, refunded, created_at,
                      currency
                 from payments where id = $1 and user_id = $2";
    let Some(row) = tx.row(sql, params![question.payment, question.user]).await? else {
        return Ok(None);
    };
    Ok(Some(PaymentView {
        id: row.get("id")?,
        reservation_id: row.get("reservation_id")?,
        method: row.parse("method", PaymentMethod::parse)?,
        paid_with: paid_with(&row)?,
        gateway: row.get("gateway")?,
        status: row.parse("status", PaymentStatus::parse)?,
        amount: row.get("amount")?,
        currency: row.parse("currency", Currency::parse)?,
        refunded: row.get("refunded")?,
        refunds: refunds(tx, question.payment).await?,
        deposit: deposit(tx, &row, question.payment).await?,
        history: history(tx, question.payment).await?,
        created_at: row.get("created_at")?,
    }))
}

/// Only a virtual account has one, so other payments aren't looked up.
async fn deposit(tx: &mut dyn Tx, row: &Row, payment: PaymentId) -> Result<Option<DepositView>> {
    if row.parse("method", PaymentMethod::parse)? != PaymentMethod::VirtualAccount {
        return Ok(None);
    }
    deposits::view(tx, payment, row.get("amount")?).await
}

/// What the gateway says was used.
pub(crate) fn paid_with(row: &Row) -> Result<Option<PaymentMethod>> {
    let text: Option<String> = row.get("paid_with")?;
    let unknown = |text| Error::Broken(format!("no payment method {text}"));
    let known = |text: String| PaymentMethod::parse(&text).ok_or_else(|| unknown(text));
    text.map(known).transpose()
}

async fn refunds(tx: &mut dyn Tx, payment: PaymentId) -> Result<Vec<RefundView>> {
    let sql = "select id, status, amount, fee, destination, reason, created_at from refunds
                where payment_id = $1 order by id";
    let read = |row: &Row| {
        Ok(RefundView {
            id: row.get("id")?,
            status: row.parse("status", RefundStatus::parse)?,
            amount: row.get("amount")?,
            fee: row.get("fee")?,
            to: row.parse("destination", RefundTo::parse)?,
            reason: row.get("reason")?,
            created_at: row.get("created_at")?,
        })
    };
    tx.query(sql, params![payment]).await?.iter().map(read).collect()
}

async fn history(tx: &mut dyn Tx, payment: PaymentId) -> Result<Vec<PaymentStep>> {
    let sql = "select status, amount, created_at from payment_history
                where payment_id = $1 order by step";
    let read = |row: &Row| {
        Ok(PaymentStep {
            status: row.parse("status", PaymentStatus::parse)?,
            amount: row.get("amount")?,
            at: row.get("created_at")?,
        })
    };
    tx.query(sql, params![payment]).await?.iter().map(read).collect()
}

pub(super) async fn captured_payment(
    tx: &mut dyn Tx,
    question: &CapturedPaymentOf,
) -> Result<Option<PaymentId>> {
    let sql = "select id from payments
                where reservation_id = $1 and user_id = $2
                  and status in ('CAPTURED', 'PARTIALLY_REFUNDED', 'REFUND_DUE')
                order by captured - refunded - promised desc limit 1";
    let row = tx.row(sql, params![question.reservation, question.user]).await?;
    Ok(row.map(|row| row.get("id")).transpose()?)
}

/// An order is bought by the one payment that passed `CAPTURED`. Its lines are those of all its seats,
/// also of the ones that were canceled since; the order's fee is the rest of what was charged.
pub(super) async fn receipt_facts(
    tx: &mut dyn Tx,
    question: &ReceiptOf,
) -> Result<Option<ReceiptFacts>> {
    let sql = "select p.id, p.gateway_ref, p.amount, r.booking_number, r.schedule_id,
                      r.promotion_code
                 from payments p join reservations r on r.id = p.reservation_id
                where p.reservation_id = $1 and p.user_id = $2
                  and exists (select 1 from payment_history h
                               where h.payment_id = p.id and h.status = 'CAPTURED')";
    let values = params![question.reservation, question.user];
    let Some(row) = tx.row(sql, values).await? else { return Ok(None) };
    let asked = PaymentOf { payment: row.get("id")?, user: question.user };
    let payment = view(tx, &asked).await?;
    let payment = payment.ok_or_else(|| Error::broken("the payment of a receipt is gone"))?;
    let seats = bought_seats(tx, question.reservation, row.get("schedule_id")?).await?;
    let (code, amount): (Option<String>, Won) = (row.get("promotion_code")?, row.get("amount")?);
    let in_seats = Won::sum(seats.iter().flat_map(|seat| [seat.price, seat.parts().fee]));
    let order_fee = in_seats.and_then(|in_seats| amount.checked_sub(in_seats));
    let booking_number: Option<String> = row.get("booking_number")?;
    Ok(Some(ReceiptFacts {
        payment,
        reference: row.get("gateway_ref")?,
        booking_number: booking_number.unwrap_or_default(),
        lines: lines_of(&seats, code.as_deref(), order_fee.unwrap_or(Won::ZERO)),
        seats: seats.into_iter().map(|seat| seat.number).collect(),
        amount,
    }))
}
