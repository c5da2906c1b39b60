//! Who does what only one node at a time should do.

use crate::error::Result;
use async_trait::async_trait;
use domain::{NodeId, Timestamp};

/// Asks for the lead of a job until a moment.
#[derive(Clone, Debug)]
pub struct TakeLease {
    pub job: &'static str,
    pub holder: NodeId,
    pub until: Timestamp,
    pub now: Timestamp,
}

/// The lead of a job. Clocks differ and processes are paused, so its holder may believe in it for
/// too long: what it does is harmless when done twice, or is refused by the fence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub job: &'static str,
    pub holder: NodeId,
    /// Grows whenever the lead changes hands or was let slip.
    pub fence: i64,
    pub until: Timestamp,
}

#[async_trait]
pub trait Leases: Send + Sync {
    /// Takes a lead that is nobody's any more, or renews one's own; `None` while another has it.
    /// Renewed in time it keeps its fence.
    async fn take_lease(&self, command: TakeLease) -> Result<Option<Lease>>;

    /// Lets others lead at once. Nothing happens when they do already.
    async fn give_up_lease(&self, lease: Lease) -> Result<()>;

    /// The jobs that this node leads.
    async fn leads_of(&self, holder: NodeId, now: Timestamp) -> Result<Vec<String>>;
}
