//! Refund policies, refunds by organisers, and those of a canceled date.

use crate::error::{Error, Result};
use crate::platform::Platform;
use crate::ports::keys::{KeyUse, Once};
use crate::ports::payments::Canceled;
use crate::ports::refunds::{
    OrganiserRefund, PreviewRefund, RefundByOrganiser, RefundPreview, RefundRun, SecondNeeded,
    SetPolicy,
};
use crate::reservations::tell_filter;
use domain::refunds::{RefundPolicy, RefundTo};
use domain::{EventId, PaymentId, RefundId, Refusal, ReservationId, ScheduleId, SeatId, UserId};

/// What canceling would come to now.
pub async fn preview(
    platform: &Platform,
    fan: UserId,
    reservation: ReservationId,
    seats: Vec<SeatId>,
) -> Result<RefundPreview> {
    let question = PreviewRefund { reservation, user: fan, seats, now: platform.now() };
    platform.store.preview_refund(question).await
}

/// What an organiser wants to give back.
pub struct AskToRefund {
    pub key: KeyUse,
    pub actor: UserId,
    pub reason: String,
    pub seats: Vec<SeatId>,
    pub fee_percent: u32,
    pub to: RefundTo,
}

/// What became of it.
pub enum RefundAnswer {
    Made(Canceled),
    SecondNeeded(SecondNeeded),
}

/// Gives money back on the organiser's own terms.
pub async fn refund_by_organiser(
    platform: &Platform,
    payment: PaymentId,
    asked: AskToRefund,
) -> Result<Once<RefundAnswer>> {
    let now = platform.now();
    let command = RefundByOrganiser {
        key: asked.key,
        actor: asked.actor,
        payment,
        refund: RefundId::new(platform.chance.id(now)),
        reason: asked.reason,
        seats: asked.seats,
        fee_percent: asked.fee_percent,
        to: asked.to,
        now,
    };
    match platform.store.refund_by_organiser(command).await? {
        Once::Replay(answer) => Ok(Once::Replay(answer)),
        Once::Fresh(OrganiserRefund::SecondNeeded(needed)) => {
            Ok(Once::Fresh(RefundAnswer::SecondNeeded(needed)))
        }
        Once::Fresh(OrganiserRefund::Made(canceled, freed)) => {
            tell_filter(platform, &[freed]).await?;
            Ok(Once::Fresh(RefundAnswer::Made(canceled)))
        }
    }
}

pub async fn policy_of(platform: &Platform, event: EventId) -> Result<RefundPolicy> {
    platform.store.refund_policy(event).await?.ok_or(Error::Refused(Refusal::NotFound))
}

pub async fn set_policy(
    platform: &Platform,
    actor: UserId,
    event: EventId,
    policy: RefundPolicy,
) -> Result<()> {
    policy.check()?;
    let command = SetPolicy { actor, event, policy, now: platform.now() };
    platform.store.set_refund_policy(command).await?;
    platform.shelf.tell(platform).await;
    Ok(())
}

pub async fn run_of(platform: &Platform, schedule: ScheduleId) -> Result<RefundRun> {
    platform.store.refund_run(schedule).await?.ok_or(Error::Refused(Refusal::NotFound))
}
