//! The bank accounts that refunds of deposits go to. Their fields are encrypted before they come here.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use crate::sql::payments::settle::deposits::{
    ForgetRefundAccounts, RefundAccountOf, RemindOfAccounts, tell,
};
use podo_app::Result;
use podo_app::payments::port::deposits::{RefundAccountRecord, SetRefundAccount};
use podo_domain::messaging::messages::MessageKind;
use podo_domain::payments::PaymentMethod;
use podo_domain::{PaymentId, Refusal, Timestamp, UserId};
use std::time::Duration;

/// When the fan is reminded for the first time that a refund needs an account.
const REMIND_AFTER: Duration = Duration::from_secs(3 * 86_400);

async fn check_owner(tx: &mut dyn Tx, payment: PaymentId, user: UserId) -> Result<()> {
    let sql = "select method from payments where id = $1 and user_id = $2";
    let row = tx.row(sql, params![payment, user]).await?.ok_or(Refusal::NotFound)?;
    if row.parse("method", PaymentMethod::parse)? != PaymentMethod::VirtualAccount {
        return Err(Refusal::NothingToRefund.into());
    }
    Ok(())
}

pub(super) async fn set(tx: &mut dyn Tx, command: &SetRefundAccount) -> Result<()> {
    let SetRefundAccount { payment, user, account, now } = command;
    check_owner(tx, *payment, *user).await?;
    let sql = "insert into refund_accounts (id, user_id, account, created_at, updated_at)
               values ($1, $2, $3, $4, $4)
               on conflict (id) do update
                  set account = excluded.account, updated_at = excluded.updated_at";
    tx.execute(sql, params![*payment, *user, account.as_slice(), *now]).await?;
    let done = "update deposits set account_ask_at = null, updated_at = $2 where payment_id = $1";
    tx.execute(done, params![*payment, *now]).await?;
    Ok(())
}

pub(super) async fn read(
    tx: &mut dyn Tx,
    question: &RefundAccountOf,
) -> Result<RefundAccountRecord> {
    check_owner(tx, question.payment, question.user).await?;
    let account = account_of(tx, question.payment).await?;
    let due = "select count(*) as n from refunds
                where payment_id = $1 and status = 'DUE' and destination = 'ORIGINAL'";
    let row = tx.row(due, params![question.payment]).await?;
    let n_due: i64 = row.map(|row| row.get("n")).transpose()?.unwrap_or(0);
    let is_needed = account.is_none() && n_due > 0;
    Ok(RefundAccountRecord { account, is_needed })
}

pub(in crate::sql::payments) async fn account_of(
    tx: &mut dyn Tx,
    payment: PaymentId,
) -> Result<Option<Vec<u8>>> {
    let sql = "select account from refund_accounts where id = $1";
    let row = tx.row(sql, params![payment]).await?;
    Ok(row.map(|row| row.get("account")).transpose()?)
}

/// A refund is due: without an account the fan is asked for one, at once and then from time to time.
pub(super) async fn ask_for(tx: &mut dyn Tx, payment: PaymentId, now: Timestamp) -> Result<()> {
    if account_of(tx, payment).await?.is_some() {
        return Ok(());
    }
    let sql = "update deposits set account_ask_at = $2, updated_at = $3 where payment_id = $1";
    tx.execute(sql, params![payment, now.plus(REMIND_AFTER), now]).await?;
    tell(tx, payment, MessageKind::RefundAccountNeeded, now).await
}

pub(super) async fn remind(tx: &mut dyn Tx, command: &RemindOfAccounts) -> Result<u64> {
    let sql = "update deposits
                  set updated_at = $1,
                      account_ask_at = case when exists (select 1 from refunds f
                                                          where f.payment_id = deposits.payment_id
                                                            and f.status = 'DUE'
                                                            and f.destination = 'ORIGINAL')
                                            then coalesce($2, account_ask_at) end
                where payment_id in
                      (select payment_id from deposits
                        where account_ask_at is not null and account_ask_at <= $1
                        order by account_ask_at limit $3 /* skip locked */)
               returning payment_id, account_ask_at";
    let values = params![command.now, command.again_at, command.limit];
    let rows = tx.query(sql, values).await?;
    for row in &rows {
        let again_at: Option<Timestamp> = row.get("account_ask_at")?;
        if again_at.is_some() {
            tell(tx, row.get("payment_id")?, MessageKind::RefundAccountNeeded, command.now).await?;
        }
    }
    Ok(rows.len() as u64)
}

pub(super) async fn forget(tx: &mut dyn Tx, command: &ForgetRefundAccounts) -> Result<u64> {
    let sql = "delete from refund_accounts where id in
                 (select a.id from refund_accounts a
                   where a.updated_at < $1
                     and not exists (select 1 from refunds f
                                      where f.payment_id = a.id
                                        and (f.status = 'DUE' or f.updated_at >= $1))
                   order by a.updated_at limit $2)";
    Ok(tx.execute(sql, params![command.before, command.limit]).await?)
}
