//! Payments and refunds in the store. Money moves only between two committed rows.

use crate::booking::port::reservations::Freed;
use crate::error::Result;
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent, IdempotentAnswer};
use crate::payments::port::deposits::{AwaitingDeposit, DepositView};
use async_trait::async_trait;
use podo_domain::booking::order::OrderLine;
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::id::SeatIndex;
use podo_domain::payments::refunds::{InBook, RefundStatus, RefundTo};
use podo_domain::payments::{Outcome, PaymentMethod, PaymentStatus};
use podo_domain::waiting_room::PlaceNumber;
use podo_domain::{
    Currency, PaymentId, RefundId, ReservationId, ScheduleId, SeatId, TicketId, Timestamp, UserId,
    Won,
};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Clone, Debug)]
pub struct RequestPayment {
    pub key: IdempotencyKey,
    pub payment: PaymentId,
    pub reservation: ReservationId,
    pub user: UserId,
    pub method: PaymentMethod,
    pub gateway: Option<&'static str>,
    /// Until when a deposit is awaited, for a virtual account.
    pub deposit_due: Option<Timestamp>,
    pub checkout: Checkout,
    pub now: Timestamp,
}

/// Where the fan goes to pay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Checkout {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<String>,
    /// The gateway's page; absent if only `confirm` is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Data for the gateway's script in the fan's browser; `scriptUrl` is its address.
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
    pub currency: Currency,
    pub status: PaymentStatus,
    pub hold_expires_at: Timestamp,
    pub checkout: Checkout,
}

/// A prepared payment, and the extension of its hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requested {
    pub ready: PaymentReady,
    pub schedule: ScheduleId,
    /// Seats whose hold was extended.
    pub extended: Vec<SeatIndex>,
}

impl IdempotentAnswer for PaymentReady {
    const STATUS: u16 = 201;
}

#[derive(Clone, Debug)]
pub struct ConfirmPayment {
    pub key: IdempotencyKey,
    pub payment: PaymentId,
    pub user: UserId,
    pub amount: Won,
    pub payment_key: Option<String>,
    pub now: Timestamp,
}

/// Pays a hold from the wallet in one step, without a request before.
#[derive(Clone, Debug)]
pub struct PayFromWallet {
    pub key: IdempotencyKey,
    pub payment: PaymentId,
    pub reservation: ReservationId,
    pub user: UserId,
    /// The amount that the fan saw.
    pub amount: Won,
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

/// The payment succeeded and the seats are sold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Confirmed {
    pub payment_id: PaymentId,
    pub status: PaymentStatus,
    pub reservation: ConfirmedReservation,
    pub tickets: Vec<NewTicket>,
}

impl IdempotentAnswer for Confirmed {
    const STATUS: u16 = 200;
}

/// What the live engines must learn after a purchase.
#[derive(Clone, Debug)]
pub struct Sold {
    pub seats: Freed,
    /// The waiting room and the place number that the purchase used.
    pub room: ScheduleId,
    pub place: PlaceNumber,
    pub confirmed: Confirmed,
}

/// The next step of a confirm call.
#[derive(Clone, Debug)]
pub enum Capture {
    /// The wallet paid, in this very transaction.
    Sold(Box<Sold>),
    /// The intent is stored; the gateway is next.
    Ask(GatewayQuery),
}

/// What the gateway needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayQuery {
    pub payment: PaymentId,
    pub gateway: String,
    pub method: PaymentMethod,
    /// The gateway's id of what the fan approved on its page.
    pub payment_key: Option<String>,
    pub amount: Won,
    pub currency: Currency,
}

#[derive(Clone, Debug)]
pub struct SettlePayment {
    pub payment: PaymentId,
    pub outcome: Outcome,
    /// Fields of the gateway's answer that we may store, as JSON.
    pub answer: Option<String>,
    /// The gateway's id of the charge, if it differs from the approval.
    pub reference: Option<String>,
    /// What the gateway says was used.
    pub paid_with: Option<PaymentMethod>,
    pub now: Timestamp,
}

/// The result of settling.
#[derive(Clone, Debug)]
pub enum Settled {
    Sold(Box<Sold>),
    /// A virtual account was issued.
    Awaiting(Box<Issued>),
    Declined {
        reason: String,
        freed: Option<Freed>,
    },
    /// Charged without a sale: the money is refunded.
    RefundDue {
        freed: Option<Freed>,
        reason: &'static str,
    },
    StillUnknown,
    /// It was settled before.
    Before(PaymentStatus),
}

/// A virtual account keeps the seats, so the fan's entry has ended.
#[derive(Clone, Debug)]
pub struct Issued {
    pub user: UserId,
    pub room: ScheduleId,
    pub place: PlaceNumber,
    pub awaiting: AwaitingDeposit,
}

/// A payment with an unknown outcome.
#[derive(Clone, Debug)]
pub struct Unsettled {
    pub ask: GatewayQuery,
    /// When a node first queried the gateway about it.
    pub first_asked_at: Timestamp,
}

#[derive(Clone, Debug)]
pub struct CancelPayment {
    pub key: IdempotencyKey,
    pub payment: PaymentId,
    pub user: UserId,
    pub refund: RefundId,
    pub reason: String,
    /// The seats to give back; all of them if none is named.
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
    /// Absent if there is nothing to refund.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refund_id: Option<RefundId>,
    pub refund_amount: Won,
    /// What the event keeps under its refund policy, with the fees that aren't refunded.
    pub fee: Won,
    pub currency: Currency,
    pub refund_to: RefundTo,
    /// The seats that were given back.
    pub seat_ids: Vec<SeatId>,
}

impl IdempotentAnswer for Canceled {
    const STATUS: u16 = 200;
}

/// A refund that the gateway has yet to make.
#[derive(Clone, Debug)]
pub struct DueRefund {
    pub refund: RefundId,
    pub payment: PaymentId,
    pub gateway: String,
    pub method: PaymentMethod,
    pub payment_key: Option<String>,
    pub amount: Won,
    pub currency: Currency,
    pub reason: String,
    /// Position among the payment's refunds, which are made one after the other.
    pub number: u32,
    /// The charged amount.
    pub captured: Won,
    pub in_book: InBook,
    /// The bank account that it goes to, for a virtual account; encrypted.
    pub account: Option<Vec<u8>>,
    /// Counts the attempts, so that a node that stalled can tell that it no longer owns the refund.
    pub attempts: u32,
}

impl DueRefund {
    /// What the gateway had refunded of the payment before this refund, by its own records.
    pub fn given_before(&self) -> Won {
        self.in_book.book_before.unwrap_or(self.in_book.refunded_before)
    }

    /// What the gateway still has of the payment.
    pub fn left_before(&self) -> Option<Won> {
        self.captured.checked_sub(self.given_before())
    }

    /// The query about the payment.
    pub fn ask(&self) -> GatewayQuery {
        GatewayQuery {
            payment: self.payment,
            gateway: self.gateway.clone(),
            method: self.method,
            payment_key: self.payment_key.clone(),
            amount: self.captured,
            currency: self.currency,
        }
    }
}

/// A refund that failed for now.
#[derive(Clone, Debug)]
pub struct PutOffRefund {
    pub refund: RefundId,
    /// The attempt that failed; a later attempt isn't postponed.
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
    /// What the gateway says was used, if it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paid_with: Option<PaymentMethod>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<String>,
    pub status: PaymentStatus,
    pub amount: Won,
    pub currency: Currency,
    pub refunded: Won,
    pub refunds: Vec<RefundView>,
    /// The virtual account, once it is issued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deposit: Option<DepositView>,
    pub history: Vec<PaymentStep>,
    pub created_at: Timestamp,
}

/// What the receipt of an order needs from its payment.
#[derive(Clone, Debug)]
pub struct ReceiptFacts {
    pub payment: PaymentView,
    /// The gateway's id of the charge.
    pub reference: Option<String>,
    pub booking_number: String,
    /// The numbers of all seats that were paid for.
    pub seats: Vec<String>,
    pub lines: Vec<OrderLine>,
    /// What was charged.
    pub amount: Won,
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

/// Selects payments to look up again although the gateway didn't know them.
#[derive(Clone, Copy, Debug)]
pub struct NeverMade {
    pub asked_before: Timestamp,
    pub requested_after: Timestamp,
    pub now: Timestamp,
    pub limit: u32,
}

#[async_trait]
pub trait Payments: Send + Sync {
    /// Stores the payment as READY and extends the hold for the gateway's page. An earlier READY
    /// payment of the reservation is canceled. Refusals: `NotFound`, `ScheduleCanceled`,
    /// `HoldOver`, `PaymentRunning`, `AlreadyPaid`, `NothingToPay`, `MethodNotOffered`, `KeyReused`.
    async fn request_payment(&self, command: RequestPayment) -> Result<Idempotent<Requested>>;

    /// From the wallet: pays in one transaction. From a card: stores the intent, so that the
    /// gateway can be asked. Refusals: `NotFound`, `AmountMismatch`, `PaymentDeclined`,
    /// `PaymentKeyMissing`, `HoldOver`, `PaymentRunning`, `AlreadyPaid`, `PaymentOver`,
    /// `ScheduleCanceled`.
    async fn confirm_payment(&self, command: ConfirmPayment) -> Result<Idempotent<Capture>>;

    /// Creates a wallet payment and confirms it, in one transaction. An earlier READY payment of the
    /// reservation is canceled. Refusals: `NotFound`, `AmountMismatch`, `PaymentDeclined`,
    /// `MethodNotOffered`, `HoldOver`, `PaymentRunning`, `AlreadyPaid`, `ScheduleCanceled`,
    /// `KeyReused`.
    async fn pay_from_wallet(&self, command: PayFromWallet) -> Result<Idempotent<Box<Sold>>>;

    /// The only way out of `PAYING`; idempotent.
    async fn settle_payment(&self, command: SettlePayment) -> Result<Settled>;

    /// Payments last queried before `asked_before`; they are marked as queried at `now`, so that
    /// several nodes share the work.
    async fn take_unsettled(
        &self,
        asked_before: Timestamp,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Unsettled>>;

    /// Payments that ended because the gateway didn't know them, requested after `requested_after`
    /// and not queried since `asked_before`; they are marked as queried at `now`.
    async fn take_never_made(&self, asked: NeverMade) -> Result<Vec<Unsettled>>;

    /// Cancels a paid reservation or some of its seats: the seats become free, their tickets void,
    /// and the refund due, or done if it goes to the wallet. The event's policy decides what it
    /// keeps. Refusals: `NotFound`, `NotPaid`, `ForeignSeat`, `CancelClosed`, `TicketUsed`,
    /// `TicketTransferred`, `NothingToRefund`.
    async fn cancel_payment(&self, command: CancelPayment)
    -> Result<Idempotent<(Canceled, Freed)>>;

    /// Refunds to make now, the first due one of each payment, leased to this caller until `until`.
    async fn take_due_refunds(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<DueRefund>>;

    /// Stores what the gateway's records showed before the refund is sent, and extends the lease
    /// until `until`. Fails with a conflict if another node has taken the refund.
    async fn start_refund(
        &self,
        refund: &DueRefund,
        book_before: Won,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<()>;

    /// Marks the refund as made by the gateway; idempotent.
    async fn finish_refund(&self, refund: RefundId, now: Timestamp) -> Result<()>;

    async fn put_off_refund(&self, command: PutOffRefund) -> Result<()>;

    /// `None` both for another fan's payment and for one that doesn't exist.
    async fn payment(&self, payment: PaymentId, user: UserId) -> Result<Option<PaymentView>>;

    /// The payment that bought a reservation, refunded or not; `None` if nothing did, and for another
    /// fan's.
    async fn receipt_facts(
        &self,
        reservation: ReservationId,
        user: UserId,
    ) -> Result<Option<ReceiptFacts>>;

    /// The captured payment of a reservation.
    async fn payment_of(
        &self,
        reservation: ReservationId,
        user: UserId,
    ) -> Result<Option<PaymentId>>;
}
