//! Buying, refunds, gateways and idempotency.

#[path = "payments/abroad.rs"]
pub(crate) mod abroad;
#[path = "payments/deposits.rs"]
pub(crate) mod deposits;
#[path = "payments/gateways.rs"]
pub(crate) mod gateways;
#[path = "payments/idempotency.rs"]
pub(crate) mod idempotency;
#[path = "payments/purchase.rs"]
pub(crate) mod purchase;
#[path = "payments/receipts.rs"]
pub(crate) mod receipts;
#[path = "payments/refunds.rs"]
pub(crate) mod refunds;
#[path = "payments/settlement.rs"]
pub(crate) mod settlement;
