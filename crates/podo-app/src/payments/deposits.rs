//! Payments by virtual account: the fan's own cancellation, and the account that refunds go to.

use crate::catalog::deposit_due_at;
use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::payments::port::deposits::{ClosingDeposit, SetRefundAccount};
use crate::payments::port::gateway::Answered;
use crate::payments::port::payments::{PaymentView, Settled};
use crate::payments::{my_payment, settle};
use podo_domain::payments::deposits::{Bank, RefundAccount};
use podo_domain::payments::{Outcome, PaymentMethod};
use podo_domain::{EventId, PaymentId, Timestamp, UserId};
use serde::Serialize;
use utoipa::ToSchema;

/// Until when a deposit for this date is awaited; `None` for other methods.
pub(crate) async fn due_at(
    context: &AppContext,
    method: PaymentMethod,
    event: EventId,
    starts_at: Timestamp,
    now: Timestamp,
) -> Result<Option<Timestamp>> {
    if method != PaymentMethod::VirtualAccount {
        return Ok(None);
    }
    deposit_due_at(context, event, starts_at, now).await.map(Some)
}

/// Closes the account of an order that the fan gives up. If the gateway doesn't answer, a job goes
/// on; until then the seats are kept, because the money may still come.
pub async fn cancel_deposit(
    context: &AppContext,
    fan: UserId,
    payment: PaymentId,
) -> Result<PaymentView> {
    let closing = context.store.cancel_deposit(payment, fan, context.now()).await?;
    if let Err(error) = close(context, &closing).await {
        tracing::warn!(%error, %payment, "Could not close a virtual account yet; a job retries it");
    }
    my_payment(context, fan, payment).await
}

/// Asks the gateway to close an account, and settles what that brings: a deposit that was faster
/// wins. Returns whether the payment has ended.
pub(crate) async fn close(context: &AppContext, closing: &ClosingDeposit) -> Result<bool> {
    let gateway = context.gateway(&closing.ask.gateway)?;
    let mut answered = gateway.void(&closing.ask, context.now()).await;
    if let Outcome::NotCaptured { .. } = answered.outcome {
        let reason = closing.reason.to_owned();
        answered = Answered { outcome: Outcome::NotCaptured { reason }, ..answered };
    }
    let settled = settle(context, &closing.ask, answered).await?;
    Ok(!matches!(settled, Settled::StillUnknown | Settled::Before(_) | Settled::Awaiting(_)))
}

/// Where refunds of a deposit go, as its owner sees it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefundAccountView {
    /// Whether a refund waits for an account.
    pub is_needed: bool,
    /// Absent until the fan gives one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<KnownAccount>,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KnownAccount {
    pub bank: Bank,
    /// The last four digits of the number.
    pub last_digits: String,
    pub holder: String,
}

pub async fn refund_account(
    context: &AppContext,
    fan: UserId,
    payment: PaymentId,
) -> Result<RefundAccountView> {
    let record = context.store.refund_account(payment, fan).await?;
    let account = record.account.map(|it| decrypt(context, payment, &it)).transpose()?;
    let known = |account: RefundAccount| KnownAccount {
        bank: account.bank,
        last_digits: account.number.last_digits().to_owned(),
        holder: account.holder.into(),
    };
    Ok(RefundAccountView { is_needed: record.is_needed, account: account.map(known) })
}

/// Replaces the account. Refunds that wait for one are sent from now on.
pub async fn set_refund_account(
    context: &AppContext,
    fan: UserId,
    payment: PaymentId,
    account: &RefundAccount,
) -> Result<()> {
    let text = serde_json::to_string(account).map_err(Error::broken)?;
    let account = context.keyring.encrypt(&place(payment), &text, &*context.rng);
    let command = SetRefundAccount { payment, user: fan, account, now: context.now() };
    context.store.set_refund_account(command).await
}

pub(crate) fn decrypt(
    context: &AppContext,
    payment: PaymentId,
    account: &[u8],
) -> Result<RefundAccount> {
    let text = context.keyring.decrypt(&place(payment), account)?;
    serde_json::from_str(&text).map_err(Error::broken)
}

fn place(payment: PaymentId) -> String {
    format!("refund_accounts.account.{payment}")
}
