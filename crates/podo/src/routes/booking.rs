//! Selecting, holding and releasing seats, ticket types and codes, sale phases, and the standby
//! list.

pub(crate) mod draws;
pub(crate) mod order;
pub(crate) mod phases;
pub(crate) mod seat_list;
pub(crate) mod seats;
pub(crate) mod standby;
