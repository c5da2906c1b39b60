//! When jobs ran: one row per job.

use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::{Row, params};
use app::Result;
use app::ports::job_runs::{JobRun, JobRuns};
use async_trait::async_trait;
use domain::Timestamp;

struct ListRuns;

struct TakeTurn {
    job: &'static str,
    due_at: Timestamp,
}

work!(Worker: JobRun => note, ());
work!(Worker: ListRuns => list, Vec<JobRun>);
work!(Worker: TakeTurn => take_turn, bool);

#[async_trait]
impl JobRuns for SqlStore {
    async fn note_run(&self, run: JobRun) -> Result<()> {
        self.write(run).await
    }

    async fn job_runs(&self) -> Result<Vec<JobRun>> {
        self.read(ListRuns).await
    }

    async fn take_turn(&self, job: &'static str, due_at: Timestamp) -> Result<bool> {
        self.write(TakeTurn { job, due_at }).await
    }
}

async fn note(tx: &mut dyn Tx, run: &JobRun) -> Result<()> {
    let sql = "insert into job_runs (job, node, started_at, finished_at, done, failed, error)
               values ($1, $2, $3, $4, $5, $6, $7)
               on conflict (job) do update
                  set node = excluded.node, started_at = excluded.started_at,
                      finished_at = excluded.finished_at, done = excluded.done,
                      failed = excluded.failed, error = excluded.error
                where job_runs.started_at is null or job_runs.started_at <= excluded.started_at";
    let values = params![
        &run.job,
        run.node,
        run.started_at,
        run.finished_at,
        run.done,
        run.failed,
        run.error.clone()
    ];
    tx.execute(sql, values).await?;
    Ok(())
}

async fn list(tx: &mut dyn Tx, _: &ListRuns) -> Result<Vec<JobRun>> {
    let sql = "select job, node, started_at, finished_at, done, failed, error from job_runs
                where started_at is not null order by job";
    let read = |row: &Row| {
        Ok(JobRun {
            job: row.get(0)?,
            node: row.get(1)?,
            started_at: row.get(2)?,
            finished_at: row.get(3)?,
            done: row.get(4)?,
            failed: row.get(5)?,
            error: row.get(6)?,
        })
    };
    tx.query(sql, &[]).await?.iter().map(read).collect()
}

/// One statement, so that of two nodes one gets it.
async fn take_turn(tx: &mut dyn Tx, command: &TakeTurn) -> Result<bool> {
    let sql = "insert into job_runs (job, due_at) values ($1, $2)
               on conflict (job) do update set due_at = excluded.due_at
                where job_runs.due_at is null or job_runs.due_at < excluded.due_at";
    Ok(tx.execute(sql, params![command.job, command.due_at]).await? > 0)
}
