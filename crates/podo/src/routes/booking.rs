//! Selecting, holding and releasing seats, ticket types and codes, sale phases, the standby
//! list, and kept seats.

pub(crate) mod allocations;
pub(crate) mod box_office;
pub(crate) mod draws;
pub(crate) mod order;
pub(crate) mod phases;
pub(crate) mod reseat;
pub(crate) mod seat_list;
pub(crate) mod seats;
pub(crate) mod standby;
