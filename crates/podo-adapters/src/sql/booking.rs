//! Reservations, draw sales, the standby list, and the seats that the filter is reconciled with.

pub(crate) mod allocations;
pub(crate) mod draws;
pub(crate) mod issued;
pub(crate) mod reconciliation;
pub(crate) mod reseat;
pub(crate) mod reservations;
pub(crate) mod standby;
