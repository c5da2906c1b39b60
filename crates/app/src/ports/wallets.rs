//! Wallets and their ledger in the store.

use super::keys::{Answer, KeyUse, Once};
use crate::error::Result;
use async_trait::async_trait;
use domain::wallet::LedgerKind;
use domain::{LedgerId, Timestamp, UserId, Won};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Clone, Debug)]
pub struct ChargeWallet {
    pub key: KeyUse,
    pub user: UserId,
    pub ledger: LedgerId,
    pub amount: Won,
    pub now: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Charged {
    pub balance: Won,
    pub ledger_id: LedgerId,
}

impl Answer for Charged {
    const STATUS: u16 = 201;
}

/// One movement on a wallet; positive amounts come in.
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
    /// Refusals: `WalletLimit`, `KeyReused`.
    async fn charge_wallet(&self, command: ChargeWallet) -> Result<Once<Charged>>;

    async fn balance(&self, user: UserId) -> Result<Won>;

    /// Newest first, behind the movement numbered `before`; each with its number.
    async fn movements(
        &self,
        user: UserId,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<(i64, Movement)>>;
}
