//! Ports of payments: the store and the gateways.

pub mod deposits;
pub mod gateway;
pub mod gateway_webhooks;
pub mod payments;
pub mod refunds;
pub mod reports;
pub mod resolutions;
pub mod sales;
pub mod wallets;
