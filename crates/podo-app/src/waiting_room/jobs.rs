//! Jobs of the waiting room.

mod admit;
mod visits;

pub(crate) use admit::is_alive;
pub use admit::{admit_fans, open_rooms};
pub use visits::Visits;
