//! What organisers see of a payment before they end something by hand.

use super::super::tx::{Tx, work};
use super::super::value::{Row, params};
use app::Result;
use app::ports::payments::RefundView;
use app::ports::resolutions::{PaymentCase, RefundCase};
use domain::payments::PaymentStatus;
use domain::refunds::{RefundStatus, RefundTo};
use domain::resolutions::{check_payment, check_refund};
use domain::{PaymentId, Timestamp};

pub(super) struct CaseOf {
    pub(super) payment: PaymentId,
    pub(super) now: Timestamp,
}

// What may be done about it is decided again by the command that does it.
work!(ReadOnly or_replica: CaseOf => case, Option<PaymentCase>);

async fn case(tx: &mut dyn Tx, question: &CaseOf) -> Result<Option<PaymentCase>> {
    let sql = "select p.reservation_id, p.user_id, p.gateway, p.status, p.amount, p.captured,
                      p.refunded, p.requested_at,
                      (select f.last_error from job_failures f
                        where f.job = 'settle' and f.item = p.id)
                 from payments p where p.id = $1";
    let charge = "select c.id, c.user_id, c.gateway, c.status, c.amount, c.captured, 0,
                         c.requested_at,
                         (select f.last_error from job_failures f
                           where f.job = 'settle' and f.item = c.id)
                    from wallet_charges c where c.id = $1";
    let values = params![question.payment];
    let (row, is_charge) = match tx.row(sql, values).await? {
        Some(row) => (row, false),
        None => match tx.row(charge, values).await? {
            Some(row) => (row, true),
            None => return Ok(None),
        },
    };
    let status = row.parse(3, PaymentStatus::parse)?;
    let requested_at = row.get(7)?;
    Ok(Some(PaymentCase {
        id: question.payment,
        reservation_id: if is_charge { None } else { Some(row.get(0)?) },
        user_id: row.get(1)?,
        gateway: row.get(2)?,
        status,
        amount: row.get(4)?,
        captured: row.get(5)?,
        refunded: row.get(6)?,
        requested_at,
        last_error: row.get(8)?,
        can_resolve: check_payment(status, requested_at, question.now).is_ok(),
        refunds: refunds(tx, question).await?,
    }))
}

async fn refunds(tx: &mut dyn Tx, question: &CaseOf) -> Result<Vec<RefundCase>> {
    let sql = "select id, status, amount, fee, destination, reason, created_at, number, attempts,
                      next_at, last_error, evidence, taken_until
                 from refunds where payment_id = $1 order by number, id";
    let read = |row: &Row| {
        let status = row.parse(1, RefundStatus::parse)?;
        let attempts = row.get(8)?;
        let next_at = if status == RefundStatus::Due { Some(row.get(9)?) } else { None };
        Ok(RefundCase {
            refund: RefundView {
                id: row.get(0)?,
                status,
                amount: row.get(2)?,
                fee: row.get(3)?,
                to: row.parse(4, RefundTo::parse)?,
                reason: row.get(5)?,
                created_at: row.get(6)?,
            },
            number: row.get(7)?,
            attempts,
            next_at,
            last_error: row.get(10)?,
            evidence: row.get(11)?,
            can_resolve: check_refund(status, attempts, row.get(12)?, question.now).is_ok(),
        })
    };
    tx.query(sql, params![question.payment]).await?.iter().map(read).collect()
}
