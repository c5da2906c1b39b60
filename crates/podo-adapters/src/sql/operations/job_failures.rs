//! Failed job items in back-off, and the ages of items that shouldn't linger.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use podo_app::Result;
use podo_app::operations::port::job_failures::{JobFailures, Overdue, Waiting};
use podo_domain::Timestamp;
use podo_domain::operations::backoff::backoff;
use uuid::Uuid;

commands! {
    impl JobFailures for SqlStore {
        write put_off(PutOff { job: &'static str, item: Uuid, error: String, now: Timestamp })
            -> () as Worker => put_off;
        read overdue(AskOverdue { now: Timestamp }) -> Overdue as Worker => overdue;
        write forget_failures(Forget { before: Timestamp, limit: u32 }) -> u64 as Worker => forget;
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
    let attempts = row.map(|row| row.get("attempts")).transpose()?.unwrap_or(1);
    let next_at = command.now.plus(backoff(attempts, tx.rng().number()));
    let wait = "update job_failures set next_at = $3, updated_at = $4
                 where job = $1 and item = $2";
    let values = params![command.job, command.item, next_at, command.now];
    tx.execute(wait, values).await?;
    Ok(())
}

async fn overdue(tx: &mut dyn Tx, question: &AskOverdue) -> Result<Overdue> {
    let put_off =
        "select job, count(*) as n_items from job_failures where next_at > $1 group by job";
    let read = |row: &Row| Ok((row.get("job")?, row.get("n_items")?));
    let put_off = tx.query(put_off, params![question.now]).await?;
    let payments = waiting(
        tx,
        "select count(*) as n_waiting, min(requested_at) as oldest_at from payments
          where status in ('REQUESTED', 'UNKNOWN')",
    )
    .await?;
    let charges = waiting(
        tx,
        "select count(*) as n_waiting, min(requested_at) as oldest_at from wallet_charges
          where status in ('REQUESTED', 'UNKNOWN')",
    )
    .await?;
    // Refunds of deposits wait for the fan's bank account, not for a job.
    let refunds = "select count(*) as n_waiting, min(created_at) as oldest_at from refunds f
                    where status = 'DUE'
                      and not exists (select 1 from payments p
                                       where p.id = f.payment_id
                                         and p.method = 'VIRTUAL_ACCOUNT'
                                         and not exists (select 1 from refund_accounts a
                                                          where a.id = p.id))";
    let notifications =
        "select count(*) as n_waiting, min(created_at) as oldest_at from notifications
                          where status in ('PENDING', 'SENDING')";
    let deliveries =
        "select count(*) as n_waiting, min(created_at) as oldest_at from webhook_deliveries
          where status = 'PENDING'";
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
    Ok(Waiting { count: row.get("n_waiting")?, oldest_at: row.get("oldest_at")? })
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
