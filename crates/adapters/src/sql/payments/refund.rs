//! Refunds that a gateway has yet to make.

use super::super::tx::{Tx, work};
use super::super::value::params;
use super::cancel::pay_back;
use super::load;
use app::ports::payments::DueRefund;
use app::{Error, Result};
use domain::refunds::RefundTo;
use domain::{PaymentId, RefundId, Refusal, Timestamp, Won};

pub(super) struct TakeDueRefunds {
    pub(super) now: Timestamp,
    pub(super) retry_at: Timestamp,
    pub(super) limit: u32,
}

pub(super) struct FinishRefund {
    pub(super) refund: RefundId,
    pub(super) now: Timestamp,
}

pub(super) struct PutOffRefund {
    pub(super) refund: RefundId,
    pub(super) error: String,
    pub(super) next_at: Timestamp,
    pub(super) now: Timestamp,
}

work!(Worker: TakeDueRefunds => take, Vec<DueRefund>);
work!(Worker: FinishRefund => finish, ());
work!(Worker: PutOffRefund => put_off, ());

async fn take(tx: &mut dyn Tx, command: &TakeDueRefunds) -> Result<Vec<DueRefund>> {
    let sql = "update refunds set attempts = attempts + 1, next_at = $2, updated_at = $1
                where id in (select r.id from refunds r
                              where r.status = 'DUE' and r.next_at <= $1
                                and not exists (select 1 from refunds o
                                                 where o.payment_id = r.payment_id
                                                   and o.status = 'DUE' and o.id < r.id)
                              order by r.next_at limit $3 /* skip locked */)
               returning id, payment_id, amount, attempts, reason";
    let rows = tx.query(sql, params![command.now, command.retry_at, command.limit]).await?;
    let mut due = Vec::with_capacity(rows.len());
    for row in rows {
        let payment: PaymentId = row.get(1)?;
        let found = load(tx, payment).await?;
        let found = found.ok_or_else(|| Error::Broken(format!("no payment {payment}")))?;
        due.push(DueRefund {
            refund: row.get(0)?,
            payment,
            gateway: found.gateway.unwrap_or_default(),
            payment_key: found.gateway_ref,
            amount: row.get(2)?,
            reason: row.get(4)?,
            captured: found.payment.captured,
            refunded_before: refunded_before(tx, payment).await?,
            attempts: row.get(3)?,
        });
    }
    Ok(due)
}

/// What the gateway gave back of a payment so far.
async fn refunded_before(tx: &mut dyn Tx, payment: PaymentId) -> Result<Won> {
    let sql = "select cast(coalesce(sum(amount), 0) as bigint) from refunds
                where payment_id = $1 and status = 'REFUNDED' and destination = 'ORIGINAL'";
    let row = tx.row(sql, params![payment]).await?;
    Ok(row.map(|row| row.get(0)).transpose()?.unwrap_or(Won::ZERO))
}

async fn finish(tx: &mut dyn Tx, command: &FinishRefund) -> Result<()> {
    let sql = "select payment_id, amount, destination from refunds where id = $1";
    let row = tx.row(sql, params![command.refund]).await?.ok_or(Refusal::NotFound)?;
    let payment = load(tx, row.get(0)?).await?.ok_or(Refusal::NotFound)?;
    let to = row.parse(2, RefundTo::parse)?;
    pay_back(tx, &payment, (command.refund, to), row.get(1)?, command.now).await?;
    Ok(())
}

async fn put_off(tx: &mut dyn Tx, command: &PutOffRefund) -> Result<()> {
    let sql = "update refunds set last_error = $2, next_at = $3, updated_at = $4
                where id = $1 and status = 'DUE'";
    tx.execute(sql, params![command.refund, &command.error, command.next_at, command.now]).await?;
    Ok(())
}
