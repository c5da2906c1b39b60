//! Records of purchases that have been kept for long enough.

use crate::error::Result;
use async_trait::async_trait;
use domain::{ReservationId, Timestamp};

#[async_trait]
pub trait Records: Send + Sync {
    /// Reservations about which nothing has happened since `before` and nothing can happen any more,
    /// oldest first, without those that are put off.
    async fn old_reservations(
        &self,
        before: Timestamp,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<ReservationId>>;

    /// Erases one of them with its seats, payments, refunds, tickets, history and keys; nothing of it
    /// when something has happened meanwhile. The ledger of the wallet and the sums of the sales stay.
    /// Says whether it was erased.
    async fn erase_reservation(
        &self,
        reservation: ReservationId,
        before: Timestamp,
    ) -> Result<bool>;

    /// Erases charges of wallets that ended before this moment, at most `limit` of them; says how many.
    async fn erase_charges(&self, before: Timestamp, limit: u32) -> Result<u64>;

    /// Deletes letters of before this moment from mailboxes.
    async fn erase_letters(&self, before: Timestamp, limit: u32) -> Result<u64>;

    /// Forgets answers of before this moment about money whose records are gone: organisers' keys, and
    /// those of movements of wallets.
    async fn forget_money_keys(&self, before: Timestamp, limit: u32) -> Result<u64>;
}
