//! Jobs of payments: settle unknown outcomes, make refunds, follow gateway webhooks.

pub mod deposits;
pub mod gateway_webhooks;
pub mod refund;
pub mod refund_canceled;
pub mod settle;
