//! Unsolicited input from gateways: webhooks, which only trigger a query, and returning browsers.

use crate::context::AppContext;
use crate::error::Result;
use crate::payments::port::gateway::{Delivery, Hint, Returned};
use crate::payments::port::gateway_webhooks::Subject;
use crate::payments::settle;
use crate::payments::wallet::settle_charge;
use podo_domain::payments::{Outcome, PaymentStatus};
use podo_domain::{PaymentId, Refusal};
use std::time::Duration;

/// A job takes over webhooks that haven't been followed after this long.
pub const FOLLOW_AFTER: Duration = Duration::from_secs(30);

/// Verifies a webhook and stores it if it names a payment that this gateway was asked to make;
/// returns it if it's new.
pub async fn receive(
    context: &AppContext,
    gateway: &str,
    delivery: &Delivery<'_>,
) -> Result<Option<Hint>> {
    let gateway = context.gateway(gateway).map_err(|_refusal| Refusal::NotFound)?;
    let hint = gateway.read_webhook(delivery)?;
    let now = context.now();
    let next_at = now.plus(FOLLOW_AFTER);
    let is_new = context.store.keep_webhook(gateway.name(), &hint, next_at, now).await?;
    Ok(Some(hint).filter(|_hint| is_new))
}

/// Queries the gateway about the payment that a webhook names. The webhook's content isn't trusted.
pub async fn follow(
    context: &AppContext,
    gateway: &str,
    id: &str,
    payment: PaymentId,
) -> Result<()> {
    let is_done = match context.store.subject(payment).await? {
        Some(subject) if subject.ask.gateway == gateway => ask_about(context, &subject).await?,
        Some(_) | None => true,
    };
    if is_done {
        context.store.finish_webhook(gateway, id, context.now()).await?;
    }
    Ok(())
}

/// Returns whether the webhook is done.
async fn ask_about(context: &AppContext, subject: &Subject) -> Result<bool> {
    let gateway = context.gateway(&subject.ask.gateway)?;
    let answered = gateway.find(&subject.ask, context.now()).await;
    let is_charged = matches!(answered.outcome, Outcome::Captured { .. });
    match subject.status {
        // The fan's own confirm is on its way, or the hold ends first: ask again later.
        PaymentStatus::Ready if is_charged => return Ok(false),
        PaymentStatus::Ready => return Ok(true),
        PaymentStatus::Requested
        | PaymentStatus::Unknown
        | PaymentStatus::AwaitingDeposit
        | PaymentStatus::Captured
        | PaymentStatus::PartiallyRefunded
        | PaymentStatus::RefundDue
        | PaymentStatus::Refunded
        | PaymentStatus::Failed
        | PaymentStatus::Canceled => {}
    }
    if answered.outcome == Outcome::Unknown {
        // The settling job keeps asking about open payments.
        return Ok(true);
    }
    if subject.is_charge {
        settle_charge(context, &subject.ask, answered).await?;
    } else {
        settle(context, &subject.ask, answered).await?;
    }
    Ok(true)
}

/// A browser returns from a gateway's page, without a session. What it brings is only stored; the
/// fan's own confirm call charges it.
pub async fn take_return(
    context: &AppContext,
    gateway: &str,
    fields: &[(String, String)],
) -> Result<Returned> {
    let gateway = context.gateway(gateway).map_err(|_refusal| Refusal::NotFound)?;
    let returned = gateway.read_return(fields).ok_or(Refusal::NotFound)?;
    if let Ok(approval) = &returned.approval {
        let (name, now) = (gateway.name(), context.now());
        context.store.keep_approval(returned.payment, name, approval.clone(), now).await?;
    }
    Ok(returned)
}
