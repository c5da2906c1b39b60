//! Payments and refunds that an organiser ends by hand: the same transaction writes who said so.

mod cases;

use super::approvals::{Decision, Subject, may_go_ahead};
use super::audit::note;
use super::keys;
use super::payments::cancel::pay_back;
use super::payments::{self, settle};
use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::params;
use super::wallets::charges;
use app::ports::keys::Once;
use app::ports::payments::SettlePayment;
use app::ports::refunds::SecondNeeded;
use app::ports::resolutions::{
    PaymentCase, Resolution, Resolutions, ResolvePayment, ResolveRefund, Resolved,
};
use app::ports::wallets::SettleCharge;
use app::{Error, Result};
use async_trait::async_trait;
use cases::CaseOf;
use domain::payments::PaymentStatus;
use domain::refunds::{RefundStatus, RefundTo};
use domain::resolutions::{check_payment, check_refund};
use domain::{PaymentId, Refusal, Timestamp, Won};
use serde_json::json;

work!(Sales: ResolvePayment => resolve_payment, Once<Resolution>);
work!(Sales: ResolveRefund => resolve_refund, Once<Resolution>);

#[async_trait]
impl Resolutions for SqlStore {
    async fn resolve_payment(&self, command: ResolvePayment) -> Result<Once<Resolution>> {
        self.write(command).await
    }

    async fn resolve_refund(&self, command: ResolveRefund) -> Result<Once<Resolution>> {
        self.write(command).await
    }

    async fn payment_case(
        &self,
        payment: PaymentId,
        now: Timestamp,
    ) -> Result<Option<PaymentCase>> {
        self.read(CaseOf { payment, now }).await
    }
}

/// A payment, or money on its way into a wallet.
struct Open {
    status: PaymentStatus,
    amount: Won,
    requested_at: Option<Timestamp>,
    is_charge: bool,
}

async fn load(tx: &mut dyn Tx, payment: PaymentId) -> Result<Open> {
    let paid = "select status, amount, requested_at from payments where id = $1";
    let charge = "select status, amount, requested_at from wallet_charges where id = $1";
    let (row, is_charge) = match tx.row(paid, params![payment]).await? {
        Some(row) => (row, false),
        None => {
            let row = tx.row(charge, params![payment]).await?;
            (row.ok_or(Refusal::NotFound)?, true)
        }
    };
    Ok(Open {
        status: row.parse(0, PaymentStatus::parse)?,
        amount: row.get(1)?,
        requested_at: row.get(2)?,
        is_charge,
    })
}

async fn resolve_payment(tx: &mut dyn Tx, command: &ResolvePayment) -> Result<Once<Resolution>> {
    if let Some(answer) = keys::find(tx, &command.key).await? {
        return Ok(Once::Replay(answer));
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
        actor: command.actor,
        now: command.now,
    };
    if !may_go_ahead(tx, &decision).await? {
        let action = (command.actor, "payment.resolve-asked");
        note(tx, action, command.payment, details, command.now).await?;
        return wait_for_second(tx, (&command.key, command.payment), amount, command.now).await;
    }
    let settled = end(tx, command, &open, amount).await?;
    let action = (command.actor, "payment.resolve");
    note(tx, action, command.payment, details, command.now).await?;
    let status = load(tx, command.payment).await?.status;
    let resolved = Resolved { payment_id: command.payment, status, refund_id: None };
    keys::store(tx, (&command.key, Some(command.payment.uuid())), &resolved, command.now).await?;
    Ok(Once::Fresh(Resolution::Done { resolved, settled }))
}

/// The one way out of `PAYING` is the same for organisers.
async fn end(
    tx: &mut dyn Tx,
    command: &ResolvePayment,
    open: &Open,
    amount: Won,
) -> Result<Option<app::ports::payments::Settled>> {
    let outcome = command.verdict.outcome(amount);
    let (payment, now) = (command.payment, command.now);
    let answer = Some(json!({ "endedByHand": command.verdict }).to_string());
    if open.is_charge {
        let charge = SettleCharge { charge: payment, outcome, answer, reference: None, now };
        charges::settle(tx, &charge).await?;
        return Ok(None);
    }
    let settle = SettlePayment { payment, outcome, answer, reference: None, now };
    settle::apply(tx, &settle).await.map(Some)
}

async fn wait_for_second(
    tx: &mut dyn Tx,
    (key, payment): (&app::ports::keys::KeyUse, PaymentId),
    amount: Won,
    now: Timestamp,
) -> Result<Once<Resolution>> {
    let needed = SecondNeeded::of(payment, amount);
    keys::store(tx, (key, Some(payment.uuid())), &needed, now).await?;
    Ok(Once::Fresh(Resolution::SecondNeeded(needed)))
}

async fn resolve_refund(tx: &mut dyn Tx, command: &ResolveRefund) -> Result<Once<Resolution>> {
    if let Some(answer) = keys::find(tx, &command.key).await? {
        return Ok(Once::Replay(answer));
    }
    let sql = "select status, attempts, taken_until, amount, destination from refunds
                where id = $1 and payment_id = $2";
    let row = tx.row(sql, params![command.refund, command.payment]).await?;
    let row = row.ok_or(Refusal::NotFound)?;
    let status = row.parse(0, RefundStatus::parse)?;
    check_refund(status, row.get(1)?, row.get(2)?, command.now)?;
    let (amount, to): (Won, _) = (row.get(3)?, row.parse(4, RefundTo::parse)?);
    let details = json!({
        "refund": command.refund, "amount": amount, "evidence": command.evidence,
    });
    let decision = Decision {
        subject: Subject::Payment(command.payment),
        what: format!("REFUNDED {}", command.refund),
        amount,
        actor: command.actor,
        now: command.now,
    };
    if !may_go_ahead(tx, &decision).await? {
        let action = (command.actor, "refund.resolve-asked");
        note(tx, action, command.payment, details, command.now).await?;
        return wait_for_second(tx, (&command.key, command.payment), amount, command.now).await;
    }
    let by_hand = "update refunds set by_hand = $2, evidence = $3, updated_at = $4
                    where id = $1 and status = 'DUE' and (taken_until is null or taken_until <= $4)";
    let values = params![command.refund, true, &command.evidence, command.now];
    if tx.execute(by_hand, values).await? != 1 {
        return Err(Error::Conflict("a node is making the refund".into()));
    }
    let payment = payments::load(tx, command.payment).await?.ok_or(Refusal::NotFound)?;
    let after = pay_back(tx, &payment, (command.refund, to), amount, command.now).await?;
    let action = (command.actor, "refund.resolve");
    note(tx, action, command.payment, details, command.now).await?;
    let resolved = Resolved {
        payment_id: command.payment,
        status: after.status,
        refund_id: Some(command.refund),
    };
    keys::store(tx, (&command.key, Some(command.payment.uuid())), &resolved, command.now).await?;
    Ok(Once::Fresh(Resolution::Done { resolved, settled: None }))
}
