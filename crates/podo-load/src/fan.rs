//! One simulated fan: account, address, journey and the log of their places.

pub(crate) mod account;
pub(crate) mod journey;
pub(crate) mod phased;
pub(crate) mod places;
pub(crate) mod source_address;
