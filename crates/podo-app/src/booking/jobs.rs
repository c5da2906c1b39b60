//! Jobs of booking: expire holds, draw applications, offer seats to winners and the standby list,
//! release kept seats, reconcile the seat filter.

pub mod draw;
pub mod expire;
pub mod offer;
pub mod reconcile;
pub mod release;
