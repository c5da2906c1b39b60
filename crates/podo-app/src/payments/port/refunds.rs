//! Refund policies, refunds by organisers, and refund runs for canceled dates.

use crate::booking::port::reservations::Freed;
use crate::error::Result;
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent, IdempotentAnswer};
use crate::payments::port::payments::Canceled;
use async_trait::async_trait;
use podo_domain::payments::refund_policy::{RefundPeriod, RefundPolicy};
use podo_domain::payments::refunds::RefundTo;
use podo_domain::{EventId, PaymentId, RefundId, ReservationId, ScheduleId, SeatId};
use podo_domain::{Timestamp, UserId, Won};
use serde::Serialize;
use utoipa::ToSchema;

/// What a cancellation would refund now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefundPreview {
    pub reservation_id: ReservationId,
    pub seat_ids: Vec<SeatId>,
    pub refund_amount: Won,
    /// What is kept: a part of the price, and the fees that aren't refunded.
    pub fee: Won,
    pub fee_percent: u32,
    /// A fixed fee for each ticket; then `fee_percent` is the most that is kept of its price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fee_amount: Option<Won>,
    /// The part of `fee` that consists of booking and order fees.
    pub fees_kept: Won,
    /// The policy under which the seats were held.
    pub policy: RefundPolicy,
    /// Its fees with their dates.
    pub periods: Vec<RefundPeriod>,
    pub now: Timestamp,
}

/// The policy of an event, and the time zone in which its days are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPolicy {
    pub policy: RefundPolicy,
    pub time_zone: String,
}

#[derive(Clone, Debug)]
pub struct PreviewRefund {
    pub reservation: ReservationId,
    pub user: UserId,
    /// All seats if none is named.
    pub seats: Vec<SeatId>,
    pub now: Timestamp,
}

/// An organiser's refund, regardless of the policy.
#[derive(Clone, Debug)]
pub struct RefundByOrganiser {
    pub key: IdempotencyKey,
    pub actor: UserId,
    pub payment: PaymentId,
    pub refund: RefundId,
    pub reason: String,
    pub seats: Vec<SeatId>,
    pub fee_percent: u32,
    /// Whether booking and order fees go back; by their own rule if absent.
    pub refunds_fees: Option<bool>,
    pub to: RefundTo,
    pub now: Timestamp,
}

/// A large refund is made only when a second organiser requests the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecondNeeded {
    pub payment_id: PaymentId,
    /// Always `SECOND_ORGANISER_NEEDED`.
    pub status: &'static str,
    /// The amount in question.
    pub refund_amount: Won,
}

impl SecondNeeded {
    pub const fn of(payment_id: PaymentId, refund_amount: Won) -> SecondNeeded {
        SecondNeeded { payment_id, status: "SECOND_ORGANISER_NEEDED", refund_amount }
    }
}

impl IdempotentAnswer for SecondNeeded {
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

/// Progress of the refunds of a canceled date.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefundRun {
    pub schedule_id: ScheduleId,
    /// False while reservations remain to be refunded.
    pub is_done: bool,
    /// Reservations that had seats when the run began, plus those that got seats during the
    /// cancellation.
    pub reservations: u64,
    pub refunded: u64,
    pub amount: Won,
    /// Refunds that the gateways have yet to make.
    pub due: u64,
    pub started_at: Timestamp,
}

#[async_trait]
pub trait Refunds: Send + Sync {
    /// Refusals: as for `cancel_payment`.
    async fn preview_refund(&self, question: PreviewRefund) -> Result<RefundPreview>;

    /// Like a fan's cancellation, with the organiser's terms. Above the limit for one organiser,
    /// the first call only requests a second organiser's approval.
    async fn refund_by_organiser(
        &self,
        command: RefundByOrganiser,
    ) -> Result<Idempotent<OrganiserRefund>>;

    async fn refund_policy(&self, event: EventId) -> Result<Option<EventPolicy>>;

    /// Refusals: `NotFound`.
    async fn set_refund_policy(&self, command: SetPolicy) -> Result<()>;

    /// Starts a run for every canceled date that has active seats and no run yet, and reopens runs
    /// that were done too early. Returns the dates of all open runs.
    async fn runs_to_do(&self, now: Timestamp) -> Result<Vec<ScheduleId>>;

    /// Paid reservations of a canceled date that aren't postponed, at most `limit`.
    async fn to_refund(
        &self,
        schedule: ScheduleId,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<ReservationId>>;

    /// Refunds a reservation in full and counts it in the run; `None` if another command already
    /// did.
    async fn refund_canceled(
        &self,
        reservation: ReservationId,
        refund: RefundId,
        now: Timestamp,
    ) -> Result<Option<Freed>>;

    /// Ends a run, unless a seat is still taken.
    async fn finish_run(&self, schedule: ScheduleId, now: Timestamp) -> Result<bool>;

    async fn refund_run(&self, schedule: ScheduleId) -> Result<Option<RefundRun>>;
}
