//! Payments, refunds, wallet, gateway webhooks and reports.

pub(crate) mod admin;
pub(crate) mod checkout;
pub(crate) mod deposits;
pub(crate) mod gateway_webhooks;
pub(crate) mod receipts;
pub(crate) mod refunds;
pub(crate) mod reports;
pub(crate) mod sandbox;
pub(crate) mod wallet;
