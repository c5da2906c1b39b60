//! What an organiser ends by hand, with the evidence.

use crate::error::{Error, Result};
use crate::payments::tell_settled;
use crate::platform::Platform;
use crate::ports::keys::{KeyUse, Once};
use crate::ports::resolutions::{PaymentCase, Resolution, ResolvePayment, ResolveRefund};
use domain::resolutions::Verdict;
use domain::{PaymentId, RefundId, Refusal, UserId, Won};

/// Who says so, and by what.
pub struct AskToResolve {
    pub key: KeyUse,
    pub actor: UserId,
    pub evidence: String,
}

/// Ends a payment whose outcome the gateway does not tell.
pub async fn resolve_payment(
    platform: &Platform,
    payment: PaymentId,
    (verdict, amount): (Verdict, Option<Won>),
    asked: AskToResolve,
) -> Result<Once<Resolution>> {
    let AskToResolve { key, actor, evidence } = asked;
    let now = platform.now();
    let command = ResolvePayment { key, actor, payment, verdict, amount, evidence, now };
    let resolution = platform.store.resolve_payment(command).await?;
    if let Once::Fresh(Resolution::Done { settled: Some(settled), .. }) = &resolution {
        tell_settled(platform, settled).await?;
    }
    Ok(resolution)
}

/// Ends a refund that was made another way.
pub async fn resolve_refund(
    platform: &Platform,
    (payment, refund): (PaymentId, RefundId),
    asked: AskToResolve,
) -> Result<Once<Resolution>> {
    let AskToResolve { key, actor, evidence } = asked;
    let now = platform.now();
    let command = ResolveRefund { key, actor, payment, refund, evidence, now };
    platform.store.resolve_refund(command).await
}

pub async fn payment_case(platform: &Platform, payment: PaymentId) -> Result<PaymentCase> {
    let found = platform.store.payment_case(payment, platform.now()).await?;
    found.ok_or(Error::Refused(Refusal::NotFound))
}
