//! Refund policies, refunds by organisers, and the refunds of a whole canceled date.

use super::keys::{Answer, KeyUse, Once};
use super::payments::Canceled;
use super::reservations::Freed;
use crate::error::Result;
use async_trait::async_trait;
use domain::refunds::{RefundPolicy, RefundTo};
use domain::{EventId, PaymentId, RefundId, ReservationId, ScheduleId, SeatId};
use domain::{Timestamp, UserId, Won};
use serde::Serialize;
use utoipa::ToSchema;

/// What canceling would come to now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefundPreview {
    pub reservation_id: ReservationId,
    pub seat_ids: Vec<SeatId>,
    pub refund_amount: Won,
    pub fee: Won,
    pub fee_percent: u32,
    pub policy: RefundPolicy,
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub struct PreviewRefund {
    pub reservation: ReservationId,
    pub user: UserId,
    /// All of them when none is named.
    pub seats: Vec<SeatId>,
    pub now: Timestamp,
}

/// An organiser gives money back, whatever the policy says.
#[derive(Clone, Debug)]
pub struct RefundByOrganiser {
    pub key: KeyUse,
    pub actor: UserId,
    pub payment: PaymentId,
    pub refund: RefundId,
    pub reason: String,
    pub seats: Vec<SeatId>,
    pub fee_percent: u32,
    pub to: RefundTo,
    pub now: Timestamp,
}

/// A large refund is made when a second organiser asks for the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecondNeeded {
    pub payment_id: PaymentId,
    /// Always `SECOND_ORGANISER_NEEDED`.
    pub status: &'static str,
    /// What it is about.
    pub refund_amount: Won,
}

impl SecondNeeded {
    pub const fn of(payment_id: PaymentId, refund_amount: Won) -> SecondNeeded {
        SecondNeeded { payment_id, status: "SECOND_ORGANISER_NEEDED", refund_amount }
    }
}

impl Answer for SecondNeeded {
    const STATUS: u16 = 202;
}

#[derive(Clone, Debug)]
pub enum OrganiserRefund {
    Made(Canceled, Freed),
    SecondNeeded(SecondNeeded),
}

#[derive(Clone, Debug)]
pub struct SetPolicy {
    pub actor: UserId,
    pub event: EventId,
    pub policy: RefundPolicy,
    pub now: Timestamp,
}

/// How far the refunds of a canceled date are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefundRun {
    pub schedule_id: ScheduleId,
    /// False while some reservation is still to be refunded.
    pub is_done: bool,
    /// Reservations that had seats when the run began, and those that got some while it was called off.
    pub reservations: u64,
    pub refunded: u64,
    pub amount: Won,
    /// Refunds that the gateways have yet to make.
    pub due: u64,
    pub started_at: Timestamp,
}

#[async_trait]
pub trait Refunds: Send + Sync {
    /// Refusals: as of `cancel_payment`.
    async fn preview_refund(&self, question: PreviewRefund) -> Result<RefundPreview>;

    /// The same as a fan's cancellation, with the organiser's terms. Beyond what one organiser
    /// moves alone, the first call only asks for a second organiser's.
    async fn refund_by_organiser(
        &self,
        command: RefundByOrganiser,
    ) -> Result<Once<OrganiserRefund>>;

    async fn refund_policy(&self, event: EventId) -> Result<Option<RefundPolicy>>;

    /// Refusals: `NotFound`.
    async fn set_refund_policy(&self, command: SetPolicy) -> Result<()>;

    /// Starts a run for every canceled date that has active seats and no run yet, opens one again that
    /// was done too early; the dates of all runs that are not done.
    async fn runs_to_do(&self, now: Timestamp) -> Result<Vec<ScheduleId>>;

    /// Paid reservations of a canceled date that are not put off, at most `limit`.
    async fn to_refund(
        &self,
        schedule: ScheduleId,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<ReservationId>>;

    /// Gives all of a reservation's money back and counts it in the run; `None` when somebody else
    /// did.
    async fn refund_canceled(
        &self,
        reservation: ReservationId,
        refund: RefundId,
        now: Timestamp,
    ) -> Result<Option<Freed>>;

    /// Ends a run, unless somebody still has a seat.
    async fn finish_run(&self, schedule: ScheduleId, now: Timestamp) -> Result<bool>;

    async fn refund_run(&self, schedule: ScheduleId) -> Result<Option<RefundRun>>;
}
