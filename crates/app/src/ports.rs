//! What the use cases need from the outside, each trait with the rules that every engine keeps.

pub mod clock;
pub mod holds;
pub mod limits;
pub mod queue;
pub mod revocations;
