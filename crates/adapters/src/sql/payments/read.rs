//! Payments as their owners and the reconciler see them.

use super::super::store::SqlStore;
use super::super::tx::{Tx, work};
use super::super::value::{Row, params};
use super::refund::{FinishRefund, StartRefund, TakeDueRefunds};
use app::Result;
use app::ports::keys::Once;
use app::ports::payments::{
    AskGateway, CancelPayment, Canceled, Capture, ConfirmPayment, DueRefund, NeverMade,
    PaymentStep, PaymentView, Payments, PutOffRefund, RefundView, RequestPayment, Requested,
    SettlePayment, Settled, Unsettled,
};
use app::ports::reservations::Freed;
use async_trait::async_trait;
use domain::payments::{PaymentMethod, PaymentStatus};
use domain::refunds::{RefundStatus, RefundTo};
use domain::{PaymentId, RefundId, ReservationId, Timestamp, UserId, Won};

struct TakeUnsettled {
    asked_before: Timestamp,
    now: Timestamp,
    limit: u32,
}

struct PaymentOf {
    payment: PaymentId,
    user: UserId,
}

struct CapturedPaymentOf {
    reservation: ReservationId,
    user: UserId,
}

work!(Worker: TakeUnsettled => take_unsettled, Vec<Unsettled>);
work!(Worker: NeverMade => take_never_made, Vec<Unsettled>);
work!(Sales or_replica: PaymentOf => view, Option<PaymentView>);
work!(Sales: CapturedPaymentOf => captured_payment, Option<PaymentId>);

#[async_trait]
impl Payments for SqlStore {
    async fn request_payment(&self, command: RequestPayment) -> Result<Once<Requested>> {
        self.write_in_batch(command).await
    }

    async fn confirm_payment(&self, command: ConfirmPayment) -> Result<Once<Capture>> {
        self.write_in_batch(command).await
    }

    async fn settle_payment(&self, command: SettlePayment) -> Result<Settled> {
        self.write_in_batch(command).await
    }

    async fn take_unsettled(
        &self,
        asked_before: Timestamp,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Unsettled>> {
        self.write(TakeUnsettled { asked_before, now, limit }).await
    }

    async fn take_never_made(&self, asked: NeverMade) -> Result<Vec<Unsettled>> {
        self.write(asked).await
    }

    async fn cancel_payment(&self, command: CancelPayment) -> Result<Once<(Canceled, Freed)>> {
        self.write(command).await
    }

    async fn take_due_refunds(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<DueRefund>> {
        self.write(TakeDueRefunds { now, until, limit }).await
    }

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

    async fn finish_refund(&self, refund: RefundId, now: Timestamp) -> Result<()> {
        self.write(FinishRefund { refund, now }).await
    }

    async fn put_off_refund(&self, command: PutOffRefund) -> Result<()> {
        self.write(command).await
    }

    async fn payment(&self, payment: PaymentId, user: UserId) -> Result<Option<PaymentView>> {
        self.read(PaymentOf { payment, user }).await
    }

    async fn payment_of(
        &self,
        reservation: ReservationId,
        user: UserId,
    ) -> Result<Option<PaymentId>> {
        self.read(CapturedPaymentOf { reservation, user }).await
    }
}

/// Marks them as asked, so that two nodes do not ask about the same payment.
async fn take_unsettled(tx: &mut dyn Tx, command: &TakeUnsettled) -> Result<Vec<Unsettled>> {
    let sql = "update payments set asked_at = $2, updated_at = $2
                where id in (select id from payments p
                              where status in ('REQUESTED', 'UNKNOWN') and asked_at <= $1
                                and coalesce((select f.next_at from job_failures f
                                                 where f.job = 'settle' and f.item = p.id), $2) <= $2
                              order by asked_at limit $3 /* skip locked */)
               returning id, gateway, gateway_ref, amount, requested_at";
    let values = params![command.asked_before, command.now, command.limit];
    tx.query(sql, values).await?.iter().map(read_unsettled).collect()
}

async fn take_never_made(tx: &mut dyn Tx, asked: &NeverMade) -> Result<Vec<Unsettled>> {
    let sql = "update payments set asked_at = $2, updated_at = $2
                where id in (select id from payments
                              where status = 'FAILED' and failure_reason = 'NOT_FOUND'
                                and asked_at <= $1 and requested_at > $3
                              order by asked_at limit $4 /* skip locked */)
               returning id, gateway, gateway_ref, amount, requested_at";
    let values = params![asked.asked_before, asked.now, asked.requested_after, asked.limit];
    tx.query(sql, values).await?.iter().map(read_unsettled).collect()
}

fn read_unsettled(row: &Row) -> Result<Unsettled> {
    let gateway: Option<String> = row.get(1)?;
    Ok(Unsettled {
        ask: AskGateway {
            payment: row.get(0)?,
            gateway: gateway.unwrap_or_default(),
            payment_key: row.get(2)?,
            amount: row.get(3)?,
        },
        requested_at: row.get(4)?,
    })
}

async fn view(tx: &mut dyn Tx, question: &PaymentOf) -> Result<Option<PaymentView>> {
    let sql = "select id, reservation_id, method, gateway, status, amount, refunded, created_at
                 from payments where id = $1 and user_id = $2";
    let Some(row) = tx.row(sql, params![question.payment, question.user]).await? else {
        return Ok(None);
    };
    Ok(Some(PaymentView {
        id: row.get(0)?,
        reservation_id: row.get(1)?,
        method: row.parse(2, PaymentMethod::parse)?,
        gateway: row.get(3)?,
        status: row.parse(4, PaymentStatus::parse)?,
        amount: row.get(5)?,
        refunded: row.get(6)?,
        refunds: refunds(tx, question.payment).await?,
        history: history(tx, question.payment).await?,
        created_at: row.get(7)?,
    }))
}

async fn refunds(tx: &mut dyn Tx, payment: PaymentId) -> Result<Vec<RefundView>> {
    let sql = "select id, status, amount, fee, destination, reason, created_at from refunds
                where payment_id = $1 order by id";
    let read = |row: &Row| {
        Ok(RefundView {
            id: row.get(0)?,
            status: row.parse(1, RefundStatus::parse)?,
            amount: row.get(2)?,
            fee: row.get(3)?,
            to: row.parse(4, RefundTo::parse)?,
            reason: row.get(5)?,
            created_at: row.get(6)?,
        })
    };
    tx.query(sql, params![payment]).await?.iter().map(read).collect()
}

async fn history(tx: &mut dyn Tx, payment: PaymentId) -> Result<Vec<PaymentStep>> {
    let sql = "select status, amount, created_at from payment_history
                where payment_id = $1 order by step";
    let read = |row: &Row| {
        Ok(PaymentStep {
            status: row.parse(0, PaymentStatus::parse)?,
            amount: row.get(1)?,
            at: row.get(2)?,
        })
    };
    tx.query(sql, params![payment]).await?.iter().map(read).collect()
}

async fn captured_payment(
    tx: &mut dyn Tx,
    question: &CapturedPaymentOf,
) -> Result<Option<PaymentId>> {
    let sql = "select id from payments
                where reservation_id = $1 and user_id = $2
                  and status in ('CAPTURED', 'PARTIALLY_REFUNDED', 'REFUND_DUE')
                order by captured - refunded - promised desc limit 1";
    let row = tx.row(sql, params![question.reservation, question.user]).await?;
    Ok(row.map(|row| row.get(0)).transpose()?)
}
