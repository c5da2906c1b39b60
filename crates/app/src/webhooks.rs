//! What comes from gateways by itself: webhooks, which only make us ask, and returning browsers.

use crate::error::Result;
use crate::payments::settle;
use crate::platform::Platform;
use crate::ports::gateway::{Delivery, Hint, Returned};
use crate::ports::webhooks::Subject;
use crate::wallet::settle_charge;
use domain::payments::{Outcome, PaymentStatus};
use domain::{PaymentId, Refusal};
use std::time::Duration;

/// A webhook that the first hand did not follow is taken by a job after this long.
pub const FOLLOW_AFTER: Duration = Duration::from_secs(30);

/// Checks a webhook and keeps it if it names a payment that this gateway was asked to make; gives it
/// when it is new.
pub async fn receive(
    platform: &Platform,
    gateway: &str,
    delivery: &Delivery<'_>,
) -> Result<Option<Hint>> {
    let gateway = platform.gateway(gateway).map_err(|_refusal| Refusal::NotFound)?;
    let hint = gateway.read_webhook(delivery)?;
    let now = platform.now();
    let next_at = now.plus(FOLLOW_AFTER);
    let is_new = platform.store.keep_webhook(gateway.name(), &hint, next_at, now).await?;
    Ok(Some(hint).filter(|_hint| is_new))
}

/// Asks the gateway about the payment that a webhook named. Nothing it said is believed.
pub async fn follow(
    platform: &Platform,
    gateway: &str,
    id: &str,
    payment: PaymentId,
) -> Result<()> {
    let is_done = match platform.store.subject(payment).await? {
        Some(subject) if subject.ask.gateway == gateway => ask_about(platform, &subject).await?,
        Some(_) | None => true,
    };
    if is_done {
        platform.store.finish_webhook(gateway, id, platform.now()).await?;
    }
    Ok(())
}

/// Whether there is nothing more to learn.
async fn ask_about(platform: &Platform, subject: &Subject) -> Result<bool> {
    let gateway = platform.gateway(&subject.ask.gateway)?;
    let answered = gateway.find(&subject.ask, platform.now()).await;
    let is_charged = matches!(answered.outcome, Outcome::Captured { .. });
    match subject.status {
        // The fan's own confirm is on its way, or the hold ends first: ask again.
        PaymentStatus::Ready if is_charged => return Ok(false),
        PaymentStatus::Ready => return Ok(true),
        PaymentStatus::Requested
        | PaymentStatus::Unknown
        | PaymentStatus::Captured
        | PaymentStatus::PartiallyRefunded
        | PaymentStatus::RefundDue
        | PaymentStatus::Refunded
        | PaymentStatus::Failed
        | PaymentStatus::Canceled => {}
    }
    if answered.outcome == Outcome::Unknown {
        // The settling job goes on asking about what is open.
        return Ok(true);
    }
    if subject.is_charge {
        settle_charge(platform, &subject.ask, answered).await?;
    } else {
        settle(platform, &subject.ask, answered).await?;
    }
    Ok(true)
}

/// A browser comes back from a gateway's page, without a session. What it brings is only kept: the
/// fan's own confirm charges it.
pub async fn take_return(
    platform: &Platform,
    gateway: &str,
    fields: &[(String, String)],
) -> Result<Returned> {
    let gateway = platform.gateway(gateway).map_err(|_refusal| Refusal::NotFound)?;
    let returned = gateway.read_return(fields).ok_or(Refusal::NotFound)?;
    if let Ok(approval) = &returned.approval {
        let (name, now) = (gateway.name(), platform.now());
        platform.store.keep_approval(returned.payment, name, approval.clone(), now).await?;
    }
    Ok(returned)
}
