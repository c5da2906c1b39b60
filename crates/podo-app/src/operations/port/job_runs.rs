//! The last run of each job over all nodes, and its result.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::{NodeId, Timestamp};

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
    /// Records a round; ignores one that is older than the recorded one.
    async fn note_run(&self, run: JobRun) -> Result<()>;

    async fn job_runs(&self) -> Result<Vec<JobRun>>;

    /// Claims the run of a job with a fixed time of day: of all nodes that ask for the same
    /// `due_at`, one gets it.
    async fn claim_run(&self, job: &'static str, due_at: Timestamp) -> Result<bool>;
}
