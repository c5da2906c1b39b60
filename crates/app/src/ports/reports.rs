//! What the daily report reads from our own book.

use super::payments::AskGateway;
use crate::error::Result;
use async_trait::async_trait;
use domain::payments::PaymentStatus;
use domain::{PaymentId, Timestamp, Won};

/// A payment or a wallet's charge of one day.
#[derive(Clone, Debug)]
pub struct DayRow {
    pub ask: AskGateway,
    pub status: PaymentStatus,
    pub captured: Won,
    /// What went back through the gateway.
    pub refunded: Won,
    /// Seats that the reservation has, and tickets for them; both 0 for a charge.
    pub seats: u32,
    pub tickets: u32,
}

#[async_trait]
pub trait Reports: Send + Sync {
    /// What was asked of gateways or paid from wallets from `from` until before `to`, behind
    /// `after`, by id.
    async fn day_rows(
        &self,
        from: Timestamp,
        to: Timestamp,
        after: Option<PaymentId>,
        limit: u32,
    ) -> Result<Vec<DayRow>>;
}
