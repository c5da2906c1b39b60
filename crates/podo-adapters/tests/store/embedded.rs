//! Tests of the embedded store only.

#[path = "embedded/durability.rs"]
pub(crate) mod durability;
#[path = "embedded/invariants.rs"]
pub(crate) mod invariants;
#[path = "embedded/machine.rs"]
pub(crate) mod machine;
#[path = "embedded/plans.rs"]
pub(crate) mod plans;
#[path = "embedded/updates.rs"]
pub(crate) mod updates;
