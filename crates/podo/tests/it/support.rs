//! A client, fans, and a world to test in.

#[path = "support/canary.rs"]
pub(crate) mod canary;
#[path = "support/client.rs"]
pub(crate) mod client;
#[path = "support/fan.rs"]
pub(crate) mod fan;
#[path = "support/soundness.rs"]
pub(crate) mod soundness;
#[path = "support/world.rs"]
pub(crate) mod world;
