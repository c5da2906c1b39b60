//! When each job last ran and how that went, over all nodes.

use crate::error::Result;
use async_trait::async_trait;
use domain::{NodeId, Timestamp};

/// The last round of a job that did something or failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRun {
    pub job: String,
    pub node: NodeId,
    pub started_at: Timestamp,
    pub finished_at: Timestamp,
    pub done: u64,
    pub failed: u64,
    pub error: Option<String>,
}

#[async_trait]
pub trait JobRuns: Send + Sync {
    /// Notes a round; an older one that comes late is not noted.
    async fn note_run(&self, run: JobRun) -> Result<()>;

    async fn job_runs(&self) -> Result<Vec<JobRun>>;

    /// Takes the turn of a job that is due at a time of day: of all nodes that ask for one `due_at`,
    /// one gets it.
    async fn take_turn(&self, job: &'static str, due_at: Timestamp) -> Result<bool>;
}
