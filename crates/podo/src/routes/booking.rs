//! Selecting, holding and releasing seats, and the standby list.

pub(crate) mod seat_list;
pub(crate) mod seats;
pub(crate) mod standby;
