//! Holds, races, canceled dates.

#[path = "booking/called_off.rs"]
pub(crate) mod called_off;
#[path = "booking/hold.rs"]
pub(crate) mod hold;
#[path = "booking/races.rs"]
pub(crate) mod races;
#[path = "booking/reconciliation.rs"]
pub(crate) mod reconciliation;
