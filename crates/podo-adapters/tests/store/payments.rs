//! Payments, refunds, wallets, idempotency keys.

#[path = "payments/deposits.rs"]
pub(crate) mod deposits;
#[path = "payments/four_eyes.rs"]
pub(crate) mod four_eyes;
#[path = "payments/gateway_webhooks.rs"]
pub(crate) mod gateway_webhooks;
#[path = "payments/idempotency.rs"]
pub(crate) mod idempotency;
#[path = "payments/pay.rs"]
pub(crate) mod pay;
#[path = "payments/refund.rs"]
pub(crate) mod refund;
#[path = "payments/refund_part.rs"]
pub(crate) mod refund_part;
#[path = "payments/settle.rs"]
pub(crate) mod settle;
#[path = "payments/wallet.rs"]
pub(crate) mod wallet;
