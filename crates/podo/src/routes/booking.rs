//! Selecting, holding and releasing seats, sale phases, and the standby list.

pub(crate) mod phases;
pub(crate) mod seat_list;
pub(crate) mod seats;
pub(crate) mod standby;
