//! Wallets and their ledger in the store.

use crate::error::Result;
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent, IdempotentAnswer};
use crate::payments::port::payments::{Checkout, GatewayQuery, Unsettled};
use async_trait::async_trait;
use podo_domain::payments::wallet::LedgerKind;
use podo_domain::payments::{Outcome, PaymentStatus};
use podo_domain::{Currency, LedgerId, PaymentId, Timestamp, UserId, Won};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Clone, Debug)]
pub struct ChargeWallet {
    pub key: IdempotencyKey,
    pub user: UserId,
    pub ledger: LedgerId,
    pub amount: Won,
    /// The server's.
    pub currency: Currency,
    pub now: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Charged {
    pub balance: Won,
    pub ledger_id: LedgerId,
}

impl IdempotentAnswer for Charged {
    const STATUS: u16 = 201;
}

/// An organiser corrects a wallet, in either direction.
#[derive(Clone, Debug)]
pub struct AdjustWallet {
    pub key: IdempotencyKey,
    pub actor: UserId,
    pub user: UserId,
    pub ledger: LedgerId,
    pub amount: i64,
    pub currency: Currency,
    pub reason: String,
    pub now: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Adjusted {
    pub user_id: UserId,
    pub balance: Won,
    pub ledger_id: LedgerId,
}

impl IdempotentAnswer for Adjusted {
    const STATUS: u16 = 201;
}

/// A correction that needs a second organiser's approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdjustmentWaits {
    pub user_id: UserId,
    /// Always `SECOND_ORGANISER_NEEDED`.
    pub status: &'static str,
    pub amount: i64,
}

impl AdjustmentWaits {
    pub const fn of(user_id: UserId, amount: i64) -> AdjustmentWaits {
        AdjustmentWaits { user_id, status: "SECOND_ORGANISER_NEEDED", amount }
    }
}

impl IdempotentAnswer for AdjustmentWaits {
    const STATUS: u16 = 202;
}

#[derive(Clone, Debug)]
pub enum Adjustment {
    Made(Adjusted),
    SecondNeeded(AdjustmentWaits),
}

/// A wallet charge through a gateway.
#[derive(Clone, Debug)]
pub struct RequestCharge {
    pub key: IdempotencyKey,
    pub charge: PaymentId,
    pub user: UserId,
    pub gateway: &'static str,
    pub amount: Won,
    pub currency: Currency,
    pub checkout: Checkout,
    pub now: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChargeReady {
    pub charge_id: PaymentId,
    pub order_id: String,
    pub amount: Won,
    pub currency: Currency,
    pub status: PaymentStatus,
    pub checkout: Checkout,
}

impl IdempotentAnswer for ChargeReady {
    const STATUS: u16 = 201;
}

#[derive(Clone, Debug)]
pub struct ConfirmCharge {
    pub key: IdempotencyKey,
    pub charge: PaymentId,
    pub user: UserId,
    pub amount: Won,
    pub payment_key: Option<String>,
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub struct SettleCharge {
    pub charge: PaymentId,
    pub outcome: Outcome,
    pub answer: Option<String>,
    pub reference: Option<String>,
    pub now: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettledCharge {
    Charged(Charged),
    Declined {
        reason: String,
    },
    StillUnknown,
    /// It was settled before.
    Before(PaymentStatus),
}

/// A charge as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChargeView {
    pub id: PaymentId,
    pub gateway: String,
    pub status: PaymentStatus,
    pub amount: Won,
    pub currency: Currency,
    pub created_at: Timestamp,
}

/// One movement on a wallet; positive amounts are credits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Movement {
    pub id: LedgerId,
    pub kind: LedgerKind,
    pub amount: i64,
    pub balance_after: Won,
    pub created_at: Timestamp,
}

#[async_trait]
pub trait Wallets: Send + Sync {
    /// Refusals: `WalletLimit`, `WalletCurrency`, `KeyReused`.
    async fn charge_wallet(&self, command: ChargeWallet) -> Result<Idempotent<Charged>>;

    /// Leaves an audit entry. Refusals: `WalletLimit`, `WalletCurrency`, `KeyReused`.
    async fn adjust_wallet(&self, command: AdjustWallet) -> Result<Idempotent<Adjustment>>;

    /// Stores the charge as READY. Refusals: `WalletLimit`, `KeyReused`.
    async fn request_charge(&self, command: RequestCharge) -> Result<Idempotent<ChargeReady>>;

    /// Stores the intent, so that the gateway can be asked. Refusals: `NotFound`, `AmountMismatch`,
    /// `PaymentKeyMissing`, `PaymentRunning`, `AlreadyPaid`, `PaymentOver`.
    async fn confirm_charge(&self, command: ConfirmCharge) -> Result<Idempotent<GatewayQuery>>;

    /// Credits what the gateway charged, however late and whatever the amount; idempotent.
    async fn settle_charge(&self, command: SettleCharge) -> Result<SettledCharge>;

    /// Like `take_unsettled` of payments.
    async fn take_unsettled_charges(
        &self,
        asked_before: Timestamp,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Unsettled>>;

    async fn charge(&self, charge: PaymentId, user: UserId) -> Result<Option<ChargeView>>;

    async fn balance(&self, user: UserId) -> Result<Won>;

    /// The balances of these users, in their order; zero without a wallet.
    async fn balances(&self, users: Vec<UserId>) -> Result<Vec<Won>>;

    /// Newest first, before the movement numbered `before`; each with its number.
    async fn movements(
        &self,
        user: UserId,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<(i64, Movement)>>;
}
