//! With what Podo does it: engines and the outside world behind the ports.

pub mod memory;
