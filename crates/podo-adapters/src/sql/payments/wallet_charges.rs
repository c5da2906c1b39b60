//! Wallet charges through a gateway: the intent is stored before money can move, and the wallet
//! gets whatever the gateway took.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::operations::idempotency;
use crate::sql::payments::wallets::{ChargeOf, Move, TakeUnsettledCharges, apply};
use podo_app::operations::idempotency::CONFIRM_CHARGE;
use podo_app::operations::port::idempotency::{Idempotent, IdempotentAnswer, StoredAnswer};
use podo_app::payments::port::payments::{GatewayQuery, Unsettled};
use podo_app::payments::port::wallets::{
    ChargeReady, ChargeView, Charged, ConfirmCharge, RequestCharge, SettleCharge, SettledCharge,
};
use podo_app::{Error, Result};
use podo_domain::payments::wallet::{Change, LedgerKind, balance_after};
use podo_domain::payments::{Outcome, PaymentMethod, PaymentStatus};
use podo_domain::{Currency, LedgerId, PaymentId, Refusal, UserId, Won};
use serde_json::json;

struct ChargeRow {
    user: UserId,
    gateway: String,
    status: PaymentStatus,
    amount: Won,
    currency: Currency,
    gateway_ref: Option<String>,
    confirm_key: Option<String>,
}

async fn load(tx: &mut dyn Tx, charge: PaymentId) -> Result<Option<ChargeRow>> {
    let sql = "select user_id, gateway, status, amount, currency, gateway_ref, confirm_key
                 from wallet_charges where id = $1";
    let read = |row: &Row| {
        Ok(ChargeRow {
            user: row.get("user_id")?,
            gateway: row.get("gateway")?,
            status: row.parse("status", PaymentStatus::parse)?,
            amount: row.get("amount")?,
            currency: row.parse("currency", Currency::parse)?,
            gateway_ref: row.get("gateway_ref")?,
            confirm_key: row.get("confirm_key")?,
        })
    };
    tx.row(sql, params![charge]).await?.as_ref().map(read).transpose()
}

pub(super) async fn request(
    tx: &mut dyn Tx,
    command: &RequestCharge,
) -> Result<Idempotent<ChargeReady>> {
    if let Some(answer) = idempotency::find(tx, &command.key).await? {
        return Ok(Idempotent::Replay(answer));
    }
    let balance = "select balance from wallets where user_id = $1";
    let row = tx.row(balance, params![command.user]).await?;
    let balance = row.map(|row| row.get("balance")).transpose()?.unwrap_or(Won::ZERO);
    balance_after(balance, LedgerKind::Charge, command.amount)?;
    let sql = "insert into wallet_charges (id, user_id, gateway, status, amount, created_at,
                                           updated_at, currency)
               values ($1, $2, $3, 'READY', $4, $5, $5, $6)";
    let (amount, currency) = (command.amount, command.currency.as_str());
    let values =
        params![command.charge, command.user, command.gateway, amount, command.now, currency];
    tx.execute(sql, values).await?;
    let ready = ChargeReady {
        charge_id: command.charge,
        order_id: command.charge.order_id(),
        amount: command.amount,
        currency: command.currency,
        status: PaymentStatus::Ready,
        checkout: command.checkout.clone(),
    };
    idempotency::store(tx, &command.key, Some(command.charge.uuid()), &ready, command.now).await?;
    Ok(Idempotent::Fresh(ready))
}

pub(super) async fn confirm(
    tx: &mut dyn Tx,
    command: &ConfirmCharge,
) -> Result<Idempotent<GatewayQuery>> {
    if let Some(answer) = idempotency::find(tx, &command.key).await? {
        return Ok(Idempotent::Replay(answer));
    }
    let found = load(tx, command.charge).await?;
    let row = found.filter(|row| row.user == command.user).ok_or(Refusal::NotFound)?;
    match row.status {
        PaymentStatus::Ready => {}
        PaymentStatus::Requested | PaymentStatus::Unknown => {
            return Err(Refusal::PaymentRunning.into());
        }
        PaymentStatus::Captured => return Err(Refusal::AlreadyPaid.into()),
        PaymentStatus::Failed
        | PaymentStatus::Canceled
        | PaymentStatus::AwaitingDeposit
        | PaymentStatus::PartiallyRefunded
        | PaymentStatus::RefundDue
        | PaymentStatus::Refunded => return Err(Refusal::PaymentOver.into()),
    }
    if command.amount != row.amount {
        return Err(Refusal::AmountMismatch.into());
    }
    let approval = row.gateway_ref.or_else(|| command.payment_key.clone());
    let payment_key = approval.ok_or(Refusal::PaymentKeyMissing)?;
    let sql = "update wallet_charges
                  set status = 'REQUESTED', gateway_ref = $2, confirm_key = $3, requested_at = $4,
                      asked_at = $4, updated_at = $4
                where id = $1 and status = 'READY'";
    let values = params![command.charge, &payment_key, &command.key.key, command.now];
    if tx.execute(sql, values).await? != 1 {
        return Err(Error::Conflict("a concurrent command changed the charge".into()));
    }
    idempotency::start(tx, &command.key, command.charge.uuid(), command.now).await?;
    Ok(Idempotent::Fresh(GatewayQuery {
        payment: command.charge,
        gateway: row.gateway,
        method: PaymentMethod::Card,
        payment_key: Some(payment_key),
        amount: row.amount,
        currency: row.currency,
    }))
}

pub(crate) async fn settle(tx: &mut dyn Tx, command: &SettleCharge) -> Result<SettledCharge> {
    let row = load(tx, command.charge).await?.ok_or(Refusal::NotFound)?;
    let is_open = matches!(row.status, PaymentStatus::Requested | PaymentStatus::Unknown);
    match &command.outcome {
        Outcome::Captured { amount }
            if row.status != PaymentStatus::Captured && !amount.is_zero() =>
        {
            arrive(tx, command, &row, *amount).await
        }
        Outcome::NotCaptured { reason } if is_open => {
            step(tx, command, &row, PaymentStatus::Failed, Won::ZERO).await?;
            let sql = "update wallet_charges set failure_reason = $2, updated_at = $3
                        where id = $1";
            tx.execute(sql, params![command.charge, reason, command.now]).await?;
            let body = json!({ "reason": reason }).to_string();
            answer(tx, &row, StoredAnswer { status: 402, body }).await?;
            Ok(SettledCharge::Declined { reason: reason.clone() })
        }
        Outcome::Unknown if row.status == PaymentStatus::Requested => {
            step(tx, command, &row, PaymentStatus::Unknown, Won::ZERO).await?;
            Ok(SettledCharge::StillUnknown)
        }
        // A wallet is charged by card.
        Outcome::Captured { .. }
        | Outcome::AwaitingDeposit(_)
        | Outcome::NotCaptured { .. }
        | Outcome::Unknown => Ok(SettledCharge::Before(row.status)),
    }
}

/// The gateway has the money, so the wallet gets the same amount.
async fn arrive(
    tx: &mut dyn Tx,
    command: &SettleCharge,
    row: &ChargeRow,
    amount: Won,
) -> Result<SettledCharge> {
    step(tx, command, row, PaymentStatus::Captured, amount).await?;
    let movement = Move {
        user: row.user,
        change: Change::Arrived(amount),
        currency: row.currency,
        reference: command.charge.uuid(),
        now: command.now,
    };
    let balance = apply(tx, &movement).await?;
    let charged = Charged { balance, ledger_id: LedgerId::new(command.charge.uuid()) };
    let body = serde_json::to_string(&charged).map_err(Error::broken)?;
    answer(tx, row, StoredAnswer { status: Charged::STATUS, body }).await?;
    Ok(SettledCharge::Charged(charged))
}

async fn step(
    tx: &mut dyn Tx,
    command: &SettleCharge,
    row: &ChargeRow,
    status: PaymentStatus,
    captured: Won,
) -> Result<()> {
    let sql = "update wallet_charges
                  set status = $3, captured = $4, gateway_answer = $5,
                      gateway_ref = coalesce($6, gateway_ref), updated_at = $7
                where id = $1 and status = $2";
    let values = params![
        command.charge,
        row.status.as_str(),
        status.as_str(),
        captured,
        command.answer.clone(),
        command.reference.clone(),
        command.now
    ];
    if tx.execute(sql, values).await? != 1 {
        return Err(Error::Conflict("a concurrent command changed the charge".into()));
    }
    Ok(())
}

async fn answer(tx: &mut dyn Tx, row: &ChargeRow, answer: StoredAnswer) -> Result<()> {
    match &row.confirm_key {
        Some(key) => idempotency::complete(tx, row.user, CONFIRM_CHARGE, key, answer).await,
        None => Ok(()),
    }
}

pub(super) async fn take_unsettled(
    tx: &mut dyn Tx,
    command: &TakeUnsettledCharges,
) -> Result<Vec<Unsettled>> {
    let sql = "update wallet_charges
                  set asked_at = $2, updated_at = $2,
                      first_asked_at = coalesce(first_asked_at, $2)
                where id in (select id from wallet_charges c
                              where status in ('REQUESTED', 'UNKNOWN') and asked_at <= $1
                                and coalesce((select f.next_at from job_failures f
                                                 where f.job = 'settle' and f.item = c.id), $2) <= $2
                              order by asked_at limit $3 /* skip locked */)
               returning id, gateway, gateway_ref, amount, currency, first_asked_at";
    let values = params![command.asked_before, command.now, command.limit];
    let read = |row: &Row| {
        Ok(Unsettled {
            ask: GatewayQuery {
                payment: row.get("id")?,
                gateway: row.get("gateway")?,
                method: PaymentMethod::Card,
                payment_key: row.get("gateway_ref")?,
                amount: row.get("amount")?,
                currency: row.parse("currency", Currency::parse)?,
            },
            first_asked_at: row.get("first_asked_at")?,
        })
    };
    tx.query(sql, values).await?.iter().map(read).collect()
}

pub(super) async fn view(tx: &mut dyn Tx, question: &ChargeOf) -> Result<Option<ChargeView>> {
    let sql = "select id, gateway, status, amount, currency, created_at from wallet_charges
                where id = $1 and user_id = $2";
    let read = |row: &Row| {
        Ok(ChargeView {
            id: row.get("id")?,
            gateway: row.get("gateway")?,
            status: row.parse("status", PaymentStatus::parse)?,
            amount: row.get("amount")?,
            currency: row.parse("currency", Currency::parse)?,
            created_at: row.get("created_at")?,
        })
    };
    tx.row(sql, params![question.charge, question.user]).await?.as_ref().map(read).transpose()
}
