//! Refunds that a gateway still has to make.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use crate::sql::payments::cancel::pay_back;
use crate::sql::payments::settle::refund_accounts;
use crate::sql::payments::{FinishRefund, StartRefund, TakeDueRefunds, load};
use podo_app::payments::port::payments::{DueRefund, PutOffRefund};
use podo_app::{Error, Result};
use podo_domain::payments::PaymentMethod;
use podo_domain::payments::refunds::{InBook, RefundTo};
use podo_domain::{PaymentId, Refusal, Timestamp, Won};

pub(super) async fn take(tx: &mut dyn Tx, command: &TakeDueRefunds) -> Result<Vec<DueRefund>> {
    number_one(tx, command.now).await?;
    let sql = "update refunds set attempts = attempts + 1, next_at = $2, taken_until = $2,
                                  updated_at = $1
                where id in (select r.id from refunds r
                              where r.status = 'DUE' and r.next_at <= $1 and r.number > 0
                                and not exists (select 1 from refunds o
                                                 where o.payment_id = r.payment_id
                                                   and o.status = 'DUE' and o.number < r.number)
                                and not exists (select 1 from payments p
                                                 where p.id = r.payment_id
                                                   and (p.method = 'BOX_OFFICE'
                                                        or (p.method = 'VIRTUAL_ACCOUNT'
                                                            and not exists (
                                                                select 1 from refund_accounts a
                                                                 where a.id = p.id))))
                              order by r.next_at limit $3 /* skip locked */)
               returning id, payment_id, amount, attempts, reason, number, book_before";
    let rows = tx.query(sql, params![command.now, command.until, command.limit]).await?;
    let mut due = Vec::with_capacity(rows.len());
    for row in rows {
        let payment: PaymentId = row.get("payment_id")?;
        let found = load(tx, payment).await?;
        let found = found.ok_or_else(|| Error::Broken(format!("no payment {payment}")))?;
        let amount = row.get("amount")?;
        let account = if found.payment.method == PaymentMethod::VirtualAccount {
            refund_accounts::account_of(tx, payment).await?
        } else {
            None
        };
        due.push(DueRefund {
            refund: row.get("id")?,
            payment,
            gateway: found.gateway.unwrap_or_default(),
            method: found.payment.method,
            payment_key: found.gateway_ref,
            amount,
            currency: found.currency,
            reason: row.get("reason")?,
            number: row.get("number")?,
            captured: found.payment.captured,
            in_book: InBook {
                amount,
                refunded_before: refunded_before(tx, payment).await?,
                book_before: row.get("book_before")?,
            },
            account,
            attempts: row.get("attempts")?,
        });
    }
    Ok(due)
}

/// Numbers refunds that a node of the previous version queued, one at a time, because they are few.
async fn number_one(tx: &mut dyn Tx, now: Timestamp) -> Result<()> {
    let sql = "update refunds
                  set updated_at = $1,
                      number = (select coalesce(max(o.number), 0) + 1 from refunds o
                                 where o.payment_id = refunds.payment_id)
                where id = (select id from refunds where status = 'DUE' and number = 0
                             order by id limit 1)
                  and number = 0";
    tx.execute(sql, params![now]).await?;
    Ok(())
}

/// What the gateway has refunded of a payment so far, without refunds that an organiser resolved
/// manually.
async fn refunded_before(tx: &mut dyn Tx, payment: PaymentId) -> Result<Won> {
    let sql = "select cast(coalesce(sum(amount), 0) as bigint) as refunded from refunds
                where payment_id = $1 and status = 'REFUNDED' and destination = 'ORIGINAL'
                  and not by_hand";
    let row = tx.row(sql, params![payment]).await?;
    Ok(row.map(|row| row.get("refunded")).transpose()?.unwrap_or(Won::ZERO))
}

pub(super) async fn start(tx: &mut dyn Tx, command: &StartRefund) -> Result<()> {
    let sql = "update refunds set book_before = $3, next_at = $4, taken_until = $4, updated_at = $5
                where id = $1 and status = 'DUE' and attempts = $2";
    let StartRefund { refund, attempts, book_before, until, now } = *command;
    match tx.execute(sql, params![refund, attempts, book_before, until, now]).await? {
        1 => Ok(()),
        _ => Err(Error::Conflict("another node has claimed the refund".into())),
    }
}

pub(super) async fn finish(tx: &mut dyn Tx, command: &FinishRefund) -> Result<()> {
    let sql = "select payment_id, amount, destination from refunds where id = $1";
    let row = tx.row(sql, params![command.refund]).await?.ok_or(Refusal::NotFound)?;
    let payment = load(tx, row.get("payment_id")?).await?.ok_or(Refusal::NotFound)?;
    let to = row.parse("destination", RefundTo::parse)?;
    pay_back(tx, &payment, command.refund, to, row.get("amount")?, command.now).await?;
    Ok(())
}

pub(super) async fn put_off(tx: &mut dyn Tx, command: &PutOffRefund) -> Result<()> {
    let sql =
        "update refunds set last_error = $3, next_at = $4, taken_until = null, updated_at = $5
                where id = $1 and status = 'DUE' and attempts = $2";
    let PutOffRefund { refund, attempts, error, next_at, now } = command;
    tx.execute(sql, params![*refund, *attempts, error, *next_at, *now]).await?;
    Ok(())
}
