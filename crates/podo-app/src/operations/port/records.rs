//! Purchase records that have passed their retention period.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::{ReservationId, Timestamp};

#[async_trait]
pub trait Records: Send + Sync {
    /// Reservations that haven't changed since `before` and can't change any more, oldest first,
    /// without postponed ones.
    async fn old_reservations(
        &self,
        before: Timestamp,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<ReservationId>>;

    /// Erases one of them with its seats, payments, refunds, tickets, history and keys, unless it
    /// has changed meanwhile. The wallet ledger and the sales totals stay. Returns whether it was
    /// erased.
    async fn erase_reservation(
        &self,
        reservation: ReservationId,
        before: Timestamp,
    ) -> Result<bool>;

    /// Erases at most `limit` wallet charges that ended before this moment; returns how many.
    async fn erase_charges(&self, before: Timestamp, limit: u32) -> Result<u64>;

    /// Deletes notifications older than this from mailboxes.
    async fn erase_notifications(&self, before: Timestamp, limit: u32) -> Result<u64>;

    /// Deletes stored answers older than this about money whose records are gone: those of
    /// organisers and of wallet movements.
    async fn forget_money_keys(&self, before: Timestamp, limit: u32) -> Result<u64>;
}
