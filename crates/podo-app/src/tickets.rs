//! Tickets: what their holders see, their codes, files and passes, transfer, and the gate.

pub mod calendar;
pub mod claims;
pub mod documents;
pub mod gate;
pub mod gate_port;
pub mod holders;
pub mod passes;
pub mod port;
pub mod resale_port;
pub mod resales;
