//! Jobs of the waiting room.

mod admit;
mod sample;
mod visits;

pub(crate) use admit::is_alive;
pub use admit::{admit_fans, open_rooms};
pub use sample::{SAMPLE_EVERY, sample_sales};
pub use visits::Visits;
