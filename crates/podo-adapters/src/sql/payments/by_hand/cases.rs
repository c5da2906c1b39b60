//! What organisers see of a payment before they resolve it manually.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::payments::by_hand::{CaseOf, failed_attempts};
use podo_app::Result;
use podo_app::payments::port::payments::RefundView;
use podo_app::payments::port::resolutions::{PaymentCase, RefundCase};
use podo_domain::payments::PaymentStatus;
use podo_domain::payments::refunds::{RefundStatus, RefundTo};
use podo_domain::payments::resolutions::{check_payment, check_refund};

pub(super) async fn case(tx: &mut dyn Tx, question: &CaseOf) -> Result<Option<PaymentCase>> {
    let sql = "select p.reservation_id, p.user_id, p.gateway, p.status, p.amount, p.captured,
                      p.refunded, p.requested_at,
                      (select f.last_error from job_failures f
                        where f.job = 'settle' and f.item = p.id) as last_error
                 from payments p where p.id = $1";
    let charge = "select c.user_id, c.gateway, c.status, c.amount, c.captured, 0 as refunded,
                         c.requested_at,
                         (select f.last_error from job_failures f
                           where f.job = 'settle' and f.item = c.id) as last_error
                    from wallet_charges c where c.id = $1";
    let values = params![question.payment];
    let (row, is_charge) = match tx.row(sql, values).await? {
        Some(row) => (row, false),
        None => match tx.row(charge, values).await? {
            Some(row) => (row, true),
            None => return Ok(None),
        },
    };
    let status = row.parse("status", PaymentStatus::parse)?;
    let requested_at = row.get("requested_at")?;
    Ok(Some(PaymentCase {
        id: question.payment,
        reservation_id: if is_charge { None } else { Some(row.get("reservation_id")?) },
        user_id: row.get("user_id")?,
        gateway: row.get("gateway")?,
        status,
        amount: row.get("amount")?,
        captured: row.get("captured")?,
        refunded: row.get("refunded")?,
        requested_at,
        last_error: row.get("last_error")?,
        can_resolve: check_payment(status, requested_at, question.now).is_ok(),
        refunds: refunds(tx, question).await?,
    }))
}

async fn refunds(tx: &mut dyn Tx, question: &CaseOf) -> Result<Vec<RefundCase>> {
    let sql = "select f.id, f.status, f.amount, f.fee, f.destination, f.reason, f.created_at,
                      f.number, f.attempts, f.next_at, f.last_error, f.evidence, f.taken_until,
                      p.method,
                      exists (select 1 from refund_accounts a where a.id = p.id) as has_account
                 from refunds f join payments p on p.id = f.payment_id
                where f.payment_id = $1 order by f.number, f.id";
    let read = |row: &Row| {
        let status = row.parse("status", RefundStatus::parse)?;
        let next_at = if status == RefundStatus::Due { Some(row.get("next_at")?) } else { None };
        Ok(RefundCase {
            refund: RefundView {
                id: row.get("id")?,
                status,
                amount: row.get("amount")?,
                fee: row.get("fee")?,
                to: row.parse("destination", RefundTo::parse)?,
                reason: row.get("reason")?,
                created_at: row.get("created_at")?,
            },
            number: row.get("number")?,
            attempts: row.get("attempts")?,
            next_at,
            last_error: row.get("last_error")?,
            evidence: row.get("evidence")?,
            can_resolve: check_refund(
                status,
                failed_attempts(row)?,
                row.get("taken_until")?,
                question.now,
            )
            .is_ok(),
        })
    };
    tx.query(sql, params![question.payment]).await?.iter().map(read).collect()
}
