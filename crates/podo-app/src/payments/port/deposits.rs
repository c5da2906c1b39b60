//! Virtual accounts in the store: which are issued, which have to be closed, and where refunds go.

use crate::error::Result;
use crate::operations::port::idempotency::IdempotentAnswer;
use crate::payments::port::payments::GatewayQuery;
use async_trait::async_trait;
use podo_domain::payments::PaymentStatus;
use podo_domain::{PaymentId, ScheduleId, Timestamp, UserId, Won};
use serde::Serialize;
use utoipa::ToSchema;

/// The virtual account of a payment, as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DepositView {
    /// A bank of `refund-account`, or the name that the gateway gave.
    pub bank: String,
    pub account_number: String,
    pub holder: String,
    /// What has to come.
    pub amount: Won,
    /// What has come so far.
    pub received: Won,
    pub due_at: Timestamp,
    /// Whether the fan canceled it, and the gateway still has to close it.
    pub is_closing: bool,
}

/// The seats are kept until the deposit comes or its deadline passes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwaitingDeposit {
    pub payment_id: PaymentId,
    /// Always `AWAITING_DEPOSIT`.
    pub status: PaymentStatus,
    pub deposit: DepositView,
}

impl IdempotentAnswer for AwaitingDeposit {
    const STATUS: u16 = 202;
}

/// An account that the gateway has to close.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosingDeposit {
    pub ask: GatewayQuery,
    /// Why: `DEPOSIT_EXPIRED` or `DEPOSIT_CANCELED`.
    pub reason: &'static str,
}

/// Takes accounts that have to be closed; no other node does until `until`.
#[derive(Clone, Copy, Debug)]
pub struct TakeClosing {
    pub now: Timestamp,
    pub until: Timestamp,
    pub limit: u32,
}

/// Takes accounts to ask the gateway about.
#[derive(Clone, Copy, Debug)]
pub struct TakeWatched {
    pub now: Timestamp,
    /// When it's asked again about a deposit that is awaited, and about one that is over.
    pub again_at: Timestamp,
    pub later_at: Timestamp,
    pub limit: u32,
}

/// The account that refunds of a payment go to, encrypted.
#[derive(Clone, Debug)]
pub struct SetRefundAccount {
    pub payment: PaymentId,
    pub user: UserId,
    pub account: Vec<u8>,
    pub now: Timestamp,
}

/// Where the refunds of a payment go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefundAccountRecord {
    pub account: Option<Vec<u8>>,
    /// Whether a refund waits for it.
    pub is_needed: bool,
}

#[async_trait]
pub trait Deposits: Send + Sync {
    /// A fan doesn't want to pay any more: marks the account to be closed. Refusals: `NotFound`,
    /// `PaymentOver`.
    async fn cancel_deposit(
        &self,
        payment: PaymentId,
        user: UserId,
        now: Timestamp,
    ) -> Result<ClosingDeposit>;

    /// Accounts whose deadline passed, or that were canceled.
    async fn take_closing(&self, command: TakeClosing) -> Result<Vec<ClosingDeposit>>;

    /// The date was canceled: its accounts are closed now. Returns how many.
    async fn close_deposits_of(&self, schedule: ScheduleId, now: Timestamp) -> Result<u64>;

    /// Accounts to ask the gateway about: no webhook is certain to come.
    async fn take_watched(&self, command: TakeWatched) -> Result<Vec<GatewayQuery>>;

    /// Writes the messages that remind fans of deadlines, and of refunds that need an account.
    async fn remind_depositors(
        &self,
        now: Timestamp,
        again_at: Timestamp,
        limit: u32,
    ) -> Result<u64>;

    /// Refusals: `NotFound`; `NothingToRefund` for a payment by another method.
    async fn set_refund_account(&self, command: SetRefundAccount) -> Result<()>;

    /// Refusals: as for `set_refund_account`.
    async fn refund_account(&self, payment: PaymentId, user: UserId)
    -> Result<RefundAccountRecord>;

    /// Deletes accounts that no refund has needed since `before`.
    async fn forget_refund_accounts(&self, before: Timestamp, limit: u32) -> Result<u64>;
}
