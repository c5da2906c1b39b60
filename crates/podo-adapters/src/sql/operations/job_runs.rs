//! Job runs: one row per job.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use podo_app::Result;
use podo_app::operations::port::job_runs::{JobRun, JobRuns};
use podo_domain::Timestamp;

commands! {
    impl JobRuns for SqlStore {
        write note_run(JobRun) -> () as Worker => note;
        read job_runs(ListRuns {}) -> Vec<JobRun> as Worker => list;
        write claim_run(ClaimRun { job: &'static str, due_at: Timestamp })
            -> bool as Worker => claim_run;
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
            job: row.get("job")?,
            node: row.get("node")?,
            started_at: row.get("started_at")?,
            finished_at: row.get("finished_at")?,
            done: row.get("done")?,
            failed: row.get("failed")?,
            error: row.get("error")?,
        })
    };
    tx.query(sql, &[]).await?.iter().map(read).collect()
}

/// One statement, so that only one of two nodes gets it.
async fn claim_run(tx: &mut dyn Tx, command: &ClaimRun) -> Result<bool> {
    let sql = "insert into job_runs (job, due_at) values ($1, $2)
               on conflict (job) do update set due_at = excluded.due_at
                where job_runs.due_at is null or job_runs.due_at < excluded.due_at";
    Ok(tx.execute(sql, params![command.job, command.due_at]).await? > 0)
}
