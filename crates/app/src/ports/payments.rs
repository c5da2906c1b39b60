//! Payments and refunds in the store. Money moves only between two committed rows.

use super::keys::{Answer, KeyUse, Once};
use super::reservations::Freed;
use crate::error::Result;
use async_trait::async_trait;
use domain::id::SeatIndex;
use domain::payments::{Outcome, PaymentMethod, PaymentStatus};
use domain::queue::PlaceNumber;
use domain::refunds::{InBook, RefundStatus, RefundTo};
use domain::reservations::ReservationStatus;
use domain::{
    PaymentId, RefundId, ReservationId, ScheduleId, SeatId, TicketId, Timestamp, UserId, Won,
};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Clone, Debug)]
pub struct RequestPayment {
    pub key: KeyUse,
    pub payment: PaymentId,
    pub reservation: ReservationId,
    pub user: UserId,
    pub method: PaymentMethod,
    pub gateway: Option<&'static str>,
    pub checkout: Checkout,
    pub now: Timestamp,
}

/// Where the fan goes to pay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Checkout {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<String>,
    /// The gateway's page; absent when nothing but `confirm` is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What the gateway's script in the fan's browser needs; `scriptUrl` says where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub data: Option<serde_json::Value>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaymentReady {
    pub payment_id: PaymentId,
    pub order_id: String,
    pub amount: Won,
    pub status: PaymentStatus,
    pub hold_expires_at: Timestamp,
    pub checkout: Checkout,
}

/// A payment that was prepared, and what became of its hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requested {
    pub ready: PaymentReady,
    pub schedule: ScheduleId,
    /// Seats that are held for longer now.
    pub extended: Vec<SeatIndex>,
}

impl Answer for PaymentReady {
    const STATUS: u16 = 201;
}

#[derive(Clone, Debug)]
pub struct ConfirmPayment {
    pub key: KeyUse,
    pub payment: PaymentId,
    pub user: UserId,
    pub amount: Won,
    pub payment_key: Option<String>,
    pub now: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfirmedReservation {
    pub id: ReservationId,
    pub status: ReservationStatus,
    pub booking_number: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewTicket {
    pub id: TicketId,
    pub seat_number: String,
}

/// Paid: the seats are the fan's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Confirmed {
    pub payment_id: PaymentId,
    pub status: PaymentStatus,
    pub reservation: ConfirmedReservation,
    pub tickets: Vec<NewTicket>,
}

impl Answer for Confirmed {
    const STATUS: u16 = 200;
}

/// What the platform must tell the live engines after a purchase.
#[derive(Clone, Debug)]
pub struct Sold {
    pub seats: Freed,
    /// The place in the queue that was bought with.
    pub place: PlaceNumber,
    pub confirmed: Confirmed,
}

/// How a confirm call goes on.
#[derive(Clone, Debug)]
pub enum Capture {
    /// The wallet paid, in this very transaction.
    Sold(Box<Sold>),
    /// The intent is stored: now ask the gateway.
    Ask(AskGateway),
}

/// What the gateway has to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskGateway {
    pub payment: PaymentId,
    pub gateway: String,
    /// The gateway's own name for what the fan approved on its page.
    pub payment_key: Option<String>,
    pub amount: Won,
}

#[derive(Clone, Debug)]
pub struct SettlePayment {
    pub payment: PaymentId,
    pub outcome: Outcome,
    /// Fields of the gateway's answer that we may keep, as JSON.
    pub answer: Option<String>,
    /// The gateway's name for the charge, when it is another than the approval.
    pub reference: Option<String>,
    pub now: Timestamp,
}

/// What settling came to.
#[derive(Clone, Debug)]
pub enum Settled {
    Sold(Box<Sold>),
    Declined {
        reason: String,
        freed: Option<Freed>,
    },
    /// Charged for nothing: the money goes back.
    RefundDue {
        freed: Option<Freed>,
        reason: &'static str,
    },
    StillUnknown,
    /// It was settled before.
    Before(PaymentStatus),
}

/// A payment whose outcome is not known.
#[derive(Clone, Debug)]
pub struct Unsettled {
    pub ask: AskGateway,
    pub requested_at: Timestamp,
}

#[derive(Clone, Debug)]
pub struct CancelPayment {
    pub key: KeyUse,
    pub payment: PaymentId,
    pub user: UserId,
    pub refund: RefundId,
    pub reason: String,
    /// Which seats are given back; all of them when none is named.
    pub seats: Vec<SeatId>,
    pub to: RefundTo,
    pub now: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Canceled {
    pub payment_id: PaymentId,
    pub status: PaymentStatus,
    pub reservation_id: ReservationId,
    pub reservation_status: ReservationStatus,
    pub refund_id: RefundId,
    pub refund_amount: Won,
    /// What the event keeps, by its refund policy.
    pub fee: Won,
    pub refund_to: RefundTo,
    /// The seats that were given back.
    pub seat_ids: Vec<SeatId>,
}

impl Answer for Canceled {
    const STATUS: u16 = 200;
}

/// A refund that the gateway has yet to make.
#[derive(Clone, Debug)]
pub struct DueRefund {
    pub refund: RefundId,
    pub payment: PaymentId,
    pub gateway: String,
    pub payment_key: Option<String>,
    pub amount: Won,
    pub reason: String,
    /// Which of the payment's refunds: they are made one after the other.
    pub number: u32,
    /// What was charged.
    pub captured: Won,
    pub in_book: InBook,
    /// Counts the takings, so that a node that was away knows when it is not its own any more.
    pub attempts: u32,
}

impl DueRefund {
    /// What the gateway gave back of the payment before this refund, by the gateway's book.
    pub fn given_before(&self) -> Won {
        self.in_book.book_before.unwrap_or(self.in_book.refunded_before)
    }

    /// What the gateway still has of the payment.
    pub fn left_before(&self) -> Option<Won> {
        self.captured.checked_sub(self.given_before())
    }

    /// For asking the gateway about the payment.
    pub fn ask(&self) -> AskGateway {
        AskGateway {
            payment: self.payment,
            gateway: self.gateway.clone(),
            payment_key: self.payment_key.clone(),
            amount: self.captured,
        }
    }
}

/// A refund that could not be made now.
#[derive(Clone, Debug)]
pub struct PutOffRefund {
    pub refund: RefundId,
    /// By which taking: a later one is not put off.
    pub attempts: u32,
    pub error: String,
    pub next_at: Timestamp,
    pub now: Timestamp,
}

/// A payment as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaymentView {
    pub id: PaymentId,
    pub reservation_id: ReservationId,
    pub method: PaymentMethod,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<String>,
    pub status: PaymentStatus,
    pub amount: Won,
    pub refunded: Won,
    pub refunds: Vec<RefundView>,
    pub history: Vec<PaymentStep>,
    pub created_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaymentStep {
    pub status: PaymentStatus,
    pub amount: Won,
    pub at: Timestamp,
}

/// A refund as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefundView {
    pub id: RefundId,
    pub status: RefundStatus,
    pub amount: Won,
    pub fee: Won,
    pub to: RefundTo,
    pub reason: String,
    pub created_at: Timestamp,
}

/// Which payments that were never made are looked up again.
#[derive(Clone, Copy, Debug)]
pub struct NeverMade {
    pub asked_before: Timestamp,
    pub requested_after: Timestamp,
    pub now: Timestamp,
    pub limit: u32,
}

#[async_trait]
pub trait Payments: Send + Sync {
    /// Stores the payment as READY and gives the hold time for the gateway's page. An earlier
    /// READY payment of the reservation is canceled. Refusals: `NotFound`, `ScheduleCanceled`,
    /// `HoldOver`, `PaymentRunning`, `AlreadyPaid`, `KeyReused`.
    async fn request_payment(&self, command: RequestPayment) -> Result<Once<Requested>>;

    /// From the wallet: pays in one transaction. From a card: stores the intent, so that the
    /// gateway may be asked. Refusals: `NotFound`, `AmountMismatch`, `PaymentDeclined`,
    /// `PaymentKeyMissing`, `HoldOver`, `PaymentRunning`, `AlreadyPaid`, `PaymentOver`,
    /// `ScheduleCanceled`.
    async fn confirm_payment(&self, command: ConfirmPayment) -> Result<Once<Capture>>;

    /// The only way out of `PAYING`; harmless to repeat.
    async fn settle_payment(&self, command: SettlePayment) -> Result<Settled>;

    /// Payments that the gateway was asked about before `asked_before`; they are marked as asked
    /// again at `now`, so that several nodes share the work.
    async fn take_unsettled(
        &self,
        asked_before: Timestamp,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Unsettled>>;

    /// Payments that ended because the gateway did not know them, requested after `requested_after`
    /// and not asked about since `asked_before`; they are marked as asked again at `now`.
    async fn take_never_made(&self, asked: NeverMade) -> Result<Vec<Unsettled>>;

    /// Cancels a paid reservation or some of its seats: the seats are free, their tickets void and
    /// the refund due, or done when it goes to the wallet. The event's policy says what it keeps.
    /// Refusals: `NotFound`, `NotPaid`, `ForeignSeat`, `CancelClosed`, `TicketUsed`,
    /// `TicketTransferred`, `NothingToRefund`.
    async fn cancel_payment(&self, command: CancelPayment) -> Result<Once<(Canceled, Freed)>>;

    /// Refunds to make now, the first that is due of each payment; nobody else gets them before
    /// `until`.
    async fn take_due_refunds(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<DueRefund>>;

    /// Remembers what the gateway's book showed before the refund is sent, and keeps it for this node
    /// until `until`. Fails with a conflict when another node has taken it.
    async fn start_refund(
        &self,
        refund: &DueRefund,
        book_before: Won,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<()>;

    /// The gateway gave the money back; harmless to repeat.
    async fn finish_refund(&self, refund: RefundId, now: Timestamp) -> Result<()>;

    async fn put_off_refund(&self, command: PutOffRefund) -> Result<()>;

    /// `None` for somebody else's as for one that does not exist.
    async fn payment(&self, payment: PaymentId, user: UserId) -> Result<Option<PaymentView>>;

    /// The captured payment of a reservation.
    async fn payment_of(
        &self,
        reservation: ReservationId,
        user: UserId,
    ) -> Result<Option<PaymentId>>;
}
