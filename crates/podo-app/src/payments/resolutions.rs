//! Payments and refunds that an organiser resolves by hand, with evidence.

use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent};
use crate::payments::port::resolutions::{PaymentCase, Resolution, ResolvePayment, ResolveRefund};
use crate::payments::tell_settled;
use podo_domain::payments::resolutions::Verdict;
use podo_domain::{PaymentId, RefundId, Refusal, UserId, Won};

/// Who resolves it, and on what evidence.
pub struct ResolutionRequest {
    pub key: IdempotencyKey,
    pub actor: UserId,
    pub evidence: String,
}

/// Resolves a payment whose outcome the gateway doesn't tell.
pub async fn resolve_payment(
    context: &AppContext,
    payment: PaymentId,
    verdict: Verdict,
    amount: Option<Won>,
    asked: ResolutionRequest,
) -> Result<Idempotent<Resolution>> {
    let ResolutionRequest { key, actor, evidence } = asked;
    let now = context.now();
    let command = ResolvePayment { key, actor, payment, verdict, amount, evidence, now };
    let resolution = context.store.resolve_payment(command).await?;
    if let Idempotent::Fresh(Resolution::Done { settled: Some(settled), .. }) = &resolution {
        tell_settled(context, settled).await?;
    }
    Ok(resolution)
}

/// Resolves a refund that was made another way.
pub async fn resolve_refund(
    context: &AppContext,
    payment: PaymentId,
    refund: RefundId,
    asked: ResolutionRequest,
) -> Result<Idempotent<Resolution>> {
    let ResolutionRequest { key, actor, evidence } = asked;
    let now = context.now();
    let command = ResolveRefund { key, actor, payment, refund, evidence, now };
    context.store.resolve_refund(command).await
}

pub async fn payment_case(context: &AppContext, payment: PaymentId) -> Result<PaymentCase> {
    let found = context.store.payment_case(payment, context.now()).await?;
    found.ok_or(Error::Refused(Refusal::NotFound))
}
