//! Gateway webhooks, unique by gateway and id, and what the gateways' pages sent back.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use podo_app::Result;
use podo_app::payments::port::gateway::Hint;
use podo_app::payments::port::gateway_webhooks::{StoredWebhook, Subject, Webhooks};
use podo_app::payments::port::payments::GatewayQuery;
use podo_domain::payments::{PaymentMethod, PaymentStatus};
use podo_domain::{Currency, PaymentId, Timestamp};

commands! {
    impl Webhooks for SqlStore {
        write forget_webhooks(Forget { before: Timestamp, limit: u32 }) -> u64 as Worker => forget;
        write take_webhooks(Take { now: Timestamp, next_at: Timestamp, limit: u32 })
            -> Vec<StoredWebhook> as Worker => take;
        read subject(SubjectOf { payment: PaymentId }) -> Option<Subject> as Sales => subject;
        write keep_approval(KeepApproval {
            payment: PaymentId, gateway: &'static str, approval: String, now: Timestamp,
        }) -> bool as Sales => keep_approval;

        command Keep {
            gateway: &'static str,
            hint: Hint,
            payment: PaymentId,
            next_at: Timestamp,
            now: Timestamp,
        } -> bool as Sales => keep;

        async fn keep_webhook(
            &self,
            gateway: &'static str,
            hint: &Hint,
            next_at: Timestamp,
            now: Timestamp,
        ) -> Result<bool> {
            // Most companies don't sign their webhooks, so drop those that name no payment.
            let Some(payment) = hint.payment else { return Ok(false) };
            self.write(Keep { gateway, hint: hint.clone(), payment, next_at, now }).await
        }

        command Finish { gateway: String, id: String, now: Timestamp } -> () as Sales => finish;

        async fn finish_webhook(&self, gateway: &str, id: &str, now: Timestamp) -> Result<()> {
            self.write(Finish { gateway: gateway.to_owned(), id: id.to_owned(), now }).await
        }
    }
}

async fn keep(tx: &mut dyn Tx, command: &Keep) -> Result<bool> {
    let Keep { gateway, hint, payment, next_at, now } = command;
    let known = subject(tx, &SubjectOf { payment: *payment }).await?;
    if known.is_none_or(|known| known.ask.gateway != *gateway) {
        return Ok(false);
    }
    let sql = "insert into webhook_events (gateway, id, kind, payment_id, status, next_at,
                                           created_at, updated_at)
               values ($1, $2, $3, $4, 'RECEIVED', $5, $6, $6)
               on conflict (gateway, id) do nothing";
    let values = params![*gateway, &hint.id, &hint.kind, *payment, *next_at, *now];
    Ok(tx.execute(sql, values).await? == 1)
}

/// Deletes webhooks that were processed, or no longer can be.
async fn forget(tx: &mut dyn Tx, command: &Forget) -> Result<u64> {
    let sql = "delete from webhook_events where (gateway, id) in
                 (select gateway, id from webhook_events where created_at < $1 limit $2)";
    Ok(tx.execute(sql, params![command.before, command.limit]).await?)
}

async fn take(tx: &mut dyn Tx, command: &Take) -> Result<Vec<StoredWebhook>> {
    let sql = "update webhook_events set next_at = $2, updated_at = $1
                where (gateway, id) in
                      (select gateway, id from webhook_events w
                        where status = 'RECEIVED' and next_at <= $1
                          and coalesce((select f.next_at from job_failures f
                                           where f.job = 'webhooks' and f.item = w.payment_id), $1) <= $1
                        order by next_at limit $3 /* skip locked */)
               returning gateway, id, payment_id";
    let values = params![command.now, command.next_at, command.limit];
    let read = |row: &Row| {
        Ok(StoredWebhook {
            gateway: row.get("gateway")?,
            id: row.get("id")?,
            payment: row.get("payment_id")?,
        })
    };
    tx.query(sql, values).await?.iter().map(read).collect()
}

async fn finish(tx: &mut dyn Tx, command: &Finish) -> Result<()> {
    let sql = "update webhook_events set status = 'DONE', updated_at = $3
                where gateway = $1 and id = $2 and status = 'RECEIVED'";
    tx.execute(sql, params![&command.gateway, &command.id, command.now]).await?;
    Ok(())
}

async fn subject(tx: &mut dyn Tx, question: &SubjectOf) -> Result<Option<Subject>> {
    let payment = "select gateway, method, gateway_ref, amount, currency, status from payments
                    where id = $1 and gateway is not null";
    let charge = "select gateway, 'CARD' as method, gateway_ref, amount, currency, status
                    from wallet_charges where id = $1";
    let paid = tx.row(payment, params![question.payment]).await?;
    let (row, is_charge) = match paid {
        Some(row) => (Some(row), false),
        None => (tx.row(charge, params![question.payment]).await?, true),
    };
    let Some(row) = row else { return Ok(None) };
    let ask = GatewayQuery {
        payment: question.payment,
        gateway: row.get("gateway")?,
        method: row.parse("method", PaymentMethod::parse)?,
        payment_key: row.get("gateway_ref")?,
        amount: row.get("amount")?,
        currency: row.parse("currency", Currency::parse)?,
    };
    Ok(Some(Subject { ask, status: row.parse("status", PaymentStatus::parse)?, is_charge }))
}

async fn keep_approval(tx: &mut dyn Tx, command: &KeepApproval) -> Result<bool> {
    let payment = "update payments set gateway_ref = $3, updated_at = $4
                    where id = $1 and gateway = $2 and status = 'READY' and gateway_ref is null";
    let charge = "update wallet_charges set gateway_ref = $3, updated_at = $4
                   where id = $1 and gateway = $2 and status = 'READY' and gateway_ref is null";
    let values = params![command.payment, command.gateway, &command.approval, command.now];
    let n_kept = tx.execute(payment, values).await? + tx.execute(charge, values).await?;
    Ok(n_kept == 1)
}
