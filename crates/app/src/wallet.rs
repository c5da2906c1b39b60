//! The fan's wallet.

use crate::error::Result;
use crate::paging::Page;
use crate::platform::Platform;
use crate::ports::keys::{KeyUse, Once};
use crate::ports::wallets::{ChargeWallet, Charged, Movement};
use domain::{LedgerId, UserId, Won};

/// Puts money into the wallet. The sandbox stands for the gateway here: it moves no real money.
pub async fn charge(
    platform: &Platform,
    key: KeyUse,
    fan: UserId,
    amount: Won,
) -> Result<Once<Charged>> {
    let now = platform.now();
    let ledger = LedgerId::new(platform.chance.id(now));
    platform.store.charge_wallet(ChargeWallet { key, user: fan, ledger, amount, now }).await
}

pub async fn balance(platform: &Platform, fan: UserId) -> Result<Won> {
    platform.store.balance(fan).await
}

/// Movements, newest first; the cursor is the number of the last one shown.
pub async fn movements(
    platform: &Platform,
    fan: UserId,
    before: Option<i64>,
    limit: u32,
) -> Result<Page<Movement>> {
    let mut rows = platform.store.movements(fan, before, limit + 1).await?;
    let has_more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let next_cursor = rows.last().map(|(number, _)| number.to_string()).filter(|_| has_more);
    Ok(Page { items: rows.into_iter().map(|(_, movement)| movement).collect(), next_cursor })
}
