//! Jobs of booking: expire holds, offer returned seats, reconcile the seat filter.

pub mod expire;
pub mod offer;
pub mod reconcile;
