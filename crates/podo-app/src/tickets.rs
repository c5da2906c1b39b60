//! Tickets: what their holders see, their codes, transfer and check-in.

pub mod holders;
pub mod port;
