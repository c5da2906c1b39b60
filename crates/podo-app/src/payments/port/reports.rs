//! Our own records for the daily report.

use crate::error::Result;
use crate::payments::port::payments::GatewayQuery;
use async_trait::async_trait;
use podo_domain::payments::PaymentStatus;
use podo_domain::{PaymentId, Timestamp, Won};

/// A payment or wallet charge of one day.
#[derive(Clone, Debug)]
pub struct DayRow {
    pub ask: GatewayQuery,
    pub status: PaymentStatus,
    pub captured: Won,
    /// What was refunded through the gateway.
    pub refunded: Won,
    /// The reservation's seats and their tickets; both 0 for a charge.
    pub seats: u32,
    pub tickets: u32,
}

#[async_trait]
pub trait Reports: Send + Sync {
    /// Payments requested from gateways or paid from wallets in `from..to`, after the id `after`,
    /// ordered by id.
    async fn day_rows(
        &self,
        from: Timestamp,
        to: Timestamp,
        after: Option<PaymentId>,
        limit: u32,
    ) -> Result<Vec<DayRow>>;
}
