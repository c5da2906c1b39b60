//! Our own records for the daily report.

use crate::error::Result;
use crate::payments::port::payments::GatewayQuery;
use async_trait::async_trait;
use podo_domain::payments::PaymentStatus;
use podo_domain::{EventId, PaymentId, Timestamp, Won};
use serde::Serialize;
use utoipa::ToSchema;

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

/// What one way of paying brought for an event in a period, or the sum of all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettlementRow {
    /// `CARD`, `WALLET` or `BOX_OFFICE`; empty in the sum.
    pub method: String,
    /// Empty unless a gateway charged.
    pub gateway: String,
    pub orders: u64,
    pub tickets: u64,
    /// The list prices of the tickets.
    pub gross: i64,
    /// By ticket types and codes.
    pub discounts: i64,
    /// Booking and order fees.
    pub fees: i64,
    /// Charged for nothing: an approval that came too late, or another amount. It is refunded.
    pub unmatched: i64,
    /// `gross` less `discounts`, with `fees` and `unmatched`.
    pub charged: i64,
    /// Refunds that were made or are due.
    pub refunded: i64,
    /// The part of `refunded` that is still due.
    pub due: i64,
    /// Cancellation fees; they stay in `charged`.
    pub retained: i64,
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

    /// By the moments at which payments and refunds were begun, in `from..to`.
    async fn settlement(
        &self,
        event: EventId,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Vec<SettlementRow>>;
}
