//! Refund policies, refunds by organisers, and refund runs of canceled dates.

use crate::booking::reservations::tell_filter;
use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent};
use crate::payments::port::payments::Canceled;
use crate::payments::port::refunds::{
    OrganiserRefund, PreviewRefund, RefundByOrganiser, RefundPreview, RefundRun, SecondNeeded,
    SetPolicy,
};
use crate::payments::refuse_foreign_wallet;
use podo_domain::payments::refund_policy::RefundPolicy;
use podo_domain::payments::refunds::RefundTo;
use podo_domain::{
    EventId, PaymentId, RefundId, Refusal, ReservationId, ScheduleId, SeatId, UserId,
};

/// What a cancellation would refund now.
pub async fn preview(
    context: &AppContext,
    fan: UserId,
    reservation: ReservationId,
    seats: Vec<SeatId>,
) -> Result<RefundPreview> {
    let question = PreviewRefund { reservation, user: fan, seats, now: context.now() };
    context.store.preview_refund(question).await
}

/// An organiser's refund request.
pub struct RefundRequest {
    pub key: IdempotencyKey,
    pub actor: UserId,
    pub reason: String,
    pub seats: Vec<SeatId>,
    pub fee_percent: u32,
    /// Whether booking and order fees go back; by their own rule if absent.
    pub refunds_fees: Option<bool>,
    pub to: RefundTo,
}

/// The result of a refund request.
pub enum RefundAnswer {
    Made(Canceled),
    SecondNeeded(SecondNeeded),
}

/// Refunds on the organiser's own terms.
pub async fn refund_by_organiser(
    context: &AppContext,
    payment: PaymentId,
    asked: RefundRequest,
) -> Result<Idempotent<RefundAnswer>> {
    if asked.to == RefundTo::Wallet {
        let event = context.store.event_of_payment(payment).await?.ok_or(Refusal::NotFound)?;
        let event = context.store.event(event).await?.ok_or(Refusal::NotFound)?;
        refuse_foreign_wallet(context, event.currency)?;
    }
    let now = context.now();
    let command = RefundByOrganiser {
        key: asked.key,
        actor: asked.actor,
        payment,
        refund: RefundId::new(context.rng.id(now)),
        reason: asked.reason,
        seats: asked.seats,
        fee_percent: asked.fee_percent,
        refunds_fees: asked.refunds_fees,
        to: asked.to,
        now,
    };
    match context.store.refund_by_organiser(command).await? {
        Idempotent::Replay(answer) => Ok(Idempotent::Replay(answer)),
        Idempotent::Fresh(OrganiserRefund::SecondNeeded(needed)) => {
            Ok(Idempotent::Fresh(RefundAnswer::SecondNeeded(needed)))
        }
        Idempotent::Fresh(OrganiserRefund::Made(canceled, freed)) => {
            tell_filter(context, &[freed]).await?;
            Ok(Idempotent::Fresh(RefundAnswer::Made(canceled)))
        }
    }
}

pub async fn policy_of(context: &AppContext, event: EventId) -> Result<RefundPolicy> {
    let found = context.store.refund_policy(event).await?;
    Ok(found.ok_or(Error::Refused(Refusal::NotFound))?.policy)
}

pub async fn set_policy(
    context: &AppContext,
    actor: UserId,
    event: EventId,
    policy: RefundPolicy,
) -> Result<()> {
    policy.check()?;
    let command = SetPolicy { actor, event, policy, now: context.now() };
    context.store.set_refund_policy(command).await?;
    context.catalog.cache.invalidate(context).await;
    Ok(())
}

pub async fn run_of(context: &AppContext, schedule: ScheduleId) -> Result<RefundRun> {
    context.store.refund_run(schedule).await?.ok_or(Error::Refused(Refusal::NotFound))
}
