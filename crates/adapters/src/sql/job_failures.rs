//! Items of jobs that failed and wait, and the ages of what should not last.

use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::{Row, params};
use app::Result;
use app::ports::job_failures::{JobFailures, Overdue, Waiting};
use async_trait::async_trait;
use domain::Timestamp;
use domain::backoff::backoff;
use uuid::Uuid;

struct PutOff {
    job: &'static str,
    item: Uuid,
    error: String,
    now: Timestamp,
}

struct AskOverdue(Timestamp);

struct Forget {
    before: Timestamp,
    limit: u32,
}

work!(Worker: PutOff => put_off, ());
work!(Worker: AskOverdue => overdue, Overdue);
work!(Worker: Forget => forget, u64);

#[async_trait]
impl JobFailures for SqlStore {
    async fn put_off(
        &self,
        job: &'static str,
        item: Uuid,
        error: String,
        now: Timestamp,
    ) -> Result<()> {
        self.write(PutOff { job, item, error, now }).await
    }

    async fn overdue(&self, now: Timestamp) -> Result<Overdue> {
        self.read(AskOverdue(now)).await
    }

    async fn forget_failures(&self, before: Timestamp, limit: u32) -> Result<u64> {
        self.write(Forget { before, limit }).await
    }
}

async fn put_off(tx: &mut dyn Tx, command: &PutOff) -> Result<()> {
    let sql = "insert into job_failures (job, item, attempts, next_at, last_error, created_at,
                                         updated_at)
               values ($1, $2, 1, $3, $4, $3, $3)
               on conflict (job, item) do update
                  set attempts = job_failures.attempts + 1, last_error = excluded.last_error,
                      updated_at = excluded.updated_at
               returning attempts";
    let values = params![command.job, command.item, command.now, &command.error];
    let row = tx.row(sql, values).await?;
    let attempts = row.map(|row| row.get(0)).transpose()?.unwrap_or(1);
    let next_at = command.now.plus(backoff(attempts, tx.chance().number()));
    let wait = "update job_failures set next_at = $3, updated_at = $4
                 where job = $1 and item = $2";
    let values = params![command.job, command.item, next_at, command.now];
    tx.execute(wait, values).await?;
    Ok(())
}

async fn overdue(tx: &mut dyn Tx, question: &AskOverdue) -> Result<Overdue> {
    let put_off = "select job, count(*) from job_failures where next_at > $1 group by job";
    let read = |row: &Row| Ok((row.get(0)?, row.get(1)?));
    let put_off = tx.query(put_off, params![question.0]).await?;
    let payments = waiting(
        tx,
        "select count(*), min(requested_at) from payments
          where status in ('REQUESTED', 'UNKNOWN')",
    )
    .await?;
    let charges = waiting(
        tx,
        "select count(*), min(requested_at) from wallet_charges
          where status in ('REQUESTED', 'UNKNOWN')",
    )
    .await?;
    let refunds = "select count(*), min(created_at) from refunds where status = 'DUE'";
    let notifications = "select count(*), min(created_at) from notifications
                          where status in ('PENDING', 'SENDING')";
    let deliveries =
        "select count(*), min(created_at) from webhook_deliveries where status = 'PENDING'";
    Ok(Overdue {
        refunds_due: waiting(tx, refunds).await?,
        payments_unknown: both(payments, charges),
        notifications: waiting(tx, notifications).await?,
        deliveries: waiting(tx, deliveries).await?,
        put_off: put_off.iter().map(read).collect::<Result<_>>()?,
    })
}

async fn waiting(tx: &mut dyn Tx, sql: &'static str) -> Result<Waiting> {
    let Some(row) = tx.row(sql, &[]).await? else { return Ok(Waiting::default()) };
    Ok(Waiting { count: row.get(0)?, oldest_at: row.get(1)? })
}

fn both(one: Waiting, other: Waiting) -> Waiting {
    let oldest_at = match (one.oldest_at, other.oldest_at) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    Waiting { count: one.count + other.count, oldest_at }
}

async fn forget(tx: &mut dyn Tx, command: &Forget) -> Result<u64> {
    let sql = "delete from job_failures where (job, item) in
                 (select job, item from job_failures where next_at < $1 limit $2)";
    Ok(tx.execute(sql, params![command.before, command.limit]).await?)
}
