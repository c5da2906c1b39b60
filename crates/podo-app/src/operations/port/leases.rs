//! Leases for work that only one node should do at a time.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::{NodeId, Timestamp};

/// Requests the lease of a job until a moment.
#[derive(Clone, Debug)]
pub struct TakeLease {
    pub job: &'static str,
    pub holder: NodeId,
    pub until: Timestamp,
    pub now: Timestamp,
}

/// The lease of a job. Clocks differ and processes pause, so a holder may believe in it for too
/// long: its actions are either idempotent or rejected by the fence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub job: &'static str,
    pub holder: NodeId,
    /// Grows whenever the lease changes hands or has lapsed.
    pub fence: i64,
    pub until: Timestamp,
}

#[async_trait]
pub trait Leases: Send + Sync {
    /// Takes a free lease or renews the holder's own; `None` while another node holds it. A lease
    /// renewed in time keeps its fence.
    async fn take_lease(&self, command: TakeLease) -> Result<Option<Lease>>;

    /// Releases the lease at once; a no-op if another node already holds it.
    async fn give_up_lease(&self, lease: Lease) -> Result<()>;

    /// The jobs that this node leads.
    async fn leads_of(&self, holder: NodeId, now: Timestamp) -> Result<Vec<String>>;
}
