//! Holds, races, sale phases, canceled dates.

#[path = "booking/desk/allocations.rs"]
pub(crate) mod allocations;
#[path = "booking/called_off.rs"]
pub(crate) mod called_off;
#[path = "booking/draw_races.rs"]
pub(crate) mod draw_races;
#[path = "booking/draws.rs"]
pub(crate) mod draws;
#[path = "booking/hold.rs"]
pub(crate) mod hold;
#[path = "booking/desk/issued.rs"]
pub(crate) mod issued;
#[path = "booking/orders.rs"]
pub(crate) mod orders;
#[path = "booking/phases.rs"]
pub(crate) mod phases;
#[path = "booking/prices.rs"]
pub(crate) mod prices;
#[path = "booking/races.rs"]
pub(crate) mod races;
#[path = "booking/reconciliation.rs"]
pub(crate) mod reconciliation;
#[path = "booking/resales.rs"]
pub(crate) mod resales;
#[path = "booking/desk/reseat.rs"]
pub(crate) mod reseat;
