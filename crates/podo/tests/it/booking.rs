//! Holds, races, sale phases, draw sales, the standby list, canceled dates.

#[path = "booking/best.rs"]
pub(crate) mod best;
#[path = "booking/called_off.rs"]
pub(crate) mod called_off;
#[path = "booking/detach.rs"]
pub(crate) mod detach;
#[path = "booking/draws.rs"]
pub(crate) mod draws;
#[path = "booking/hold.rs"]
pub(crate) mod hold;
#[path = "booking/orders.rs"]
pub(crate) mod orders;
#[path = "booking/phases.rs"]
pub(crate) mod phases;
#[path = "booking/prices.rs"]
pub(crate) mod prices;
#[path = "booking/race.rs"]
pub(crate) mod race;
#[path = "booking/reconcile.rs"]
pub(crate) mod reconcile;
#[path = "booking/standby.rs"]
pub(crate) mod standby;
