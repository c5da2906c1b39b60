//! Events and seat maps.

#[path = "catalog/events.rs"]
pub(crate) mod events;
#[path = "catalog/images.rs"]
pub(crate) mod images;
#[path = "catalog/members.rs"]
pub(crate) mod members;
#[path = "catalog/seat_map.rs"]
pub(crate) mod seat_map;
