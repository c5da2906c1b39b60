//! Payments and refunds that an organiser resolves manually, with an audit entry in the same
//! transaction.

pub(crate) mod approvals;
mod cases;

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::operations::audit::note;
use crate::sql::operations::idempotency;
use crate::sql::payments;
use crate::sql::payments::by_hand::approvals::{Decision, Subject, may_go_ahead};
use crate::sql::payments::cancel::pay_back;
use crate::sql::payments::settle;
use crate::sql::payments::wallet_charges;
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments::port::payments::SettlePayment;
use podo_app::payments::port::refunds::SecondNeeded;
use podo_app::payments::port::resolutions::{
    PaymentCase, Resolution, Resolutions, ResolvePayment, ResolveRefund, Resolved,
};
use podo_app::payments::port::wallets::SettleCharge;
use podo_app::{Error, Result};
use podo_domain::payments::refunds::{RefundStatus, RefundTo};
use podo_domain::payments::resolutions::{check_payment, check_refund};
use podo_domain::payments::{Payee, PaymentMethod, PaymentStatus};
use podo_domain::{Currency, PaymentId, Refusal, Timestamp, Won};
use serde_json::json;

commands! {
    impl Resolutions for SqlStore {
        write resolve_payment(ResolvePayment) -> Idempotent<Resolution> as Sales => resolve_payment;
        write resolve_refund(ResolveRefund) -> Idempotent<Resolution> as Sales => resolve_refund;
        // The command that resolves the payment checks again, so a replica may answer.
        read payment_case(CaseOf { payment: PaymentId, now: Timestamp })
            -> Option<PaymentCase> as ReadOnly or_replica => cases::case;
    }
}

/// A payment, or a wallet charge in progress.
struct Open {
    status: PaymentStatus,
    amount: Won,
    currency: Currency,
    requested_at: Option<Timestamp>,
    is_charge: bool,
}

async fn load(tx: &mut dyn Tx, payment: PaymentId) -> Result<Open> {
    let paid = "select status, amount, currency, requested_at from payments where id = $1";
    let charge = "select status, amount, currency, requested_at from wallet_charges where id = $1";
    let (row, is_charge) = match tx.row(paid, params![payment]).await? {
        Some(row) => (row, false),
        None => {
            let row = tx.row(charge, params![payment]).await?;
            (row.ok_or(Refusal::NotFound)?, true)
        }
    };
    Ok(Open {
        status: row.parse("status", PaymentStatus::parse)?,
        amount: row.get("amount")?,
        currency: row.parse("currency", Currency::parse)?,
        requested_at: row.get("requested_at")?,
        is_charge,
    })
}

async fn resolve_payment(
    tx: &mut dyn Tx,
    command: &ResolvePayment,
) -> Result<Idempotent<Resolution>> {
    if let Some(answer) = idempotency::find(tx, &command.key).await? {
        return Ok(Idempotent::Replay(answer));
    }
    let open = load(tx, command.payment).await?;
    check_payment(open.status, open.requested_at, command.now)?;
    let amount = command.amount.unwrap_or(open.amount);
    let details = json!({
        "verdict": command.verdict, "amount": amount, "evidence": command.evidence,
    });
    let decision = Decision {
        subject: Subject::Payment(command.payment),
        what: format!("{} {}", command.verdict.as_str(), amount.get()),
        amount: amount.max(open.amount),
        currency: open.currency,
        actor: command.actor,
        now: command.now,
    };
    if !may_go_ahead(tx, &decision).await? {
        note(tx, command.actor, "payment.resolve-asked", command.payment, details, command.now)
            .await?;
        return wait_for_second(tx, &command.key, command.payment, amount, command.now).await;
    }
    let settled = end(tx, command, &open, amount).await?;
    note(tx, command.actor, "payment.resolve", command.payment, details, command.now).await?;
    let status = load(tx, command.payment).await?.status;
    let resolved = Resolved { payment_id: command.payment, status, refund_id: None };
    idempotency::store(tx, &command.key, Some(command.payment.uuid()), &resolved, command.now)
        .await?;
    Ok(Idempotent::Fresh(Resolution::Done { resolved, settled }))
}

/// Organisers use the same exit from `PAYING` as everything else.
async fn end(
    tx: &mut dyn Tx,
    command: &ResolvePayment,
    open: &Open,
    amount: Won,
) -> Result<Option<podo_app::payments::port::payments::Settled>> {
    let outcome = command.verdict.outcome(amount);
    let (payment, now) = (command.payment, command.now);
    let answer = Some(json!({ "endedByHand": command.verdict }).to_string());
    if open.is_charge {
        let charge = SettleCharge { charge: payment, outcome, answer, reference: None, now };
        wallet_charges::settle(tx, &charge).await?;
        return Ok(None);
    }
    let (reference, paid_with) = (None, None);
    let settle = SettlePayment { payment, outcome, answer, reference, paid_with, now };
    settle::apply(tx, &settle).await.map(Some)
}

async fn wait_for_second(
    tx: &mut dyn Tx,
    key: &podo_app::operations::port::idempotency::IdempotencyKey,
    payment: PaymentId,
    amount: Won,
    now: Timestamp,
) -> Result<Idempotent<Resolution>> {
    let needed = SecondNeeded::of(payment, amount);
    idempotency::store(tx, key, Some(payment.uuid()), &needed, now).await?;
    Ok(Idempotent::Fresh(Resolution::SecondNeeded(needed)))
}

/// No gateway makes the refund of a payment at the desk, or of a deposit without an account, so it
/// waits for nothing.
fn failed_attempts(refund: &Row) -> Result<u32> {
    let method = refund.parse("method", PaymentMethod::parse)?;
    let has_account: bool = refund.get("has_account")?;
    Ok(match method.payee() {
        Payee::BoxOffice => u32::MAX,
        Payee::Gateway if method == PaymentMethod::VirtualAccount && !has_account => u32::MAX,
        Payee::Gateway | Payee::Wallet => refund.get("attempts")?,
    })
}

async fn resolve_refund(
    tx: &mut dyn Tx,
    command: &ResolveRefund,
) -> Result<Idempotent<Resolution>> {
    if let Some(answer) = idempotency::find(tx, &command.key).await? {
        return Ok(Idempotent::Replay(answer));
    }
    let sql = "select f.status, f.attempts, f.taken_until, f.amount, f.destination, p.method,
                      p.currency,
                      exists (select 1 from refund_accounts a where a.id = p.id) as has_account
                 from refunds f join payments p on p.id = f.payment_id
                where f.id = $1 and f.payment_id = $2";
    let row = tx.row(sql, params![command.refund, command.payment]).await?;
    let row = row.ok_or(Refusal::NotFound)?;
    let status = row.parse("status", RefundStatus::parse)?;
    check_refund(status, failed_attempts(&row)?, row.get("taken_until")?, command.now)?;
    let (amount, to): (Won, _) = (row.get("amount")?, row.parse("destination", RefundTo::parse)?);
    let details = json!({
        "refund": command.refund, "amount": amount, "evidence": command.evidence,
    });
    let decision = Decision {
        subject: Subject::Payment(command.payment),
        what: format!("REFUNDED {}", command.refund),
        amount,
        currency: row.parse("currency", Currency::parse)?,
        actor: command.actor,
        now: command.now,
    };
    if !may_go_ahead(tx, &decision).await? {
        note(tx, command.actor, "refund.resolve-asked", command.payment, details, command.now)
            .await?;
        return wait_for_second(tx, &command.key, command.payment, amount, command.now).await;
    }
    let by_hand = "update refunds set by_hand = $2, evidence = $3, updated_at = $4
                    where id = $1 and status = 'DUE' and (taken_until is null or taken_until <= $4)";
    let values = params![command.refund, true, &command.evidence, command.now];
    if tx.execute(by_hand, values).await? != 1 {
        return Err(Error::Conflict("a node is processing the refund".into()));
    }
    let payment = payments::load(tx, command.payment).await?.ok_or(Refusal::NotFound)?;
    let after = pay_back(tx, &payment, command.refund, to, amount, command.now).await?;
    note(tx, command.actor, "refund.resolve", command.payment, details, command.now).await?;
    let resolved = Resolved {
        payment_id: command.payment,
        status: after.status,
        refund_id: Some(command.refund),
    };
    idempotency::store(tx, &command.key, Some(command.payment.uuid()), &resolved, command.now)
        .await?;
    Ok(Idempotent::Fresh(Resolution::Done { resolved, settled: None }))
}
