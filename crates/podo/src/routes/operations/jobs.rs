//! The jobs for organisers, and sales as counted by the workers.

use crate::http::extract::permissions::{Operate, ViewOperations, ViewSales};
use crate::http::extract::scope::OfSchedule;
use crate::http::extract::{Allowed, Audited, Id, guarded};
use crate::http::problem::{ApiResult, Problem};
use crate::jobs::{Job, run_by_hand};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use podo_app::payments::port::sales::GradeStatistics;
use podo_domain::{NodeId, Refusal, ScheduleId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(guarded!(list)).routes(guarded!(run)).routes(guarded!(statistics))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobView {
    name: &'static str,
    about: &'static str,
    /// When it runs.
    runs: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<LastRun>,
}

/// The last recorded round on any node; idle rounds are recorded rarely.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LastRun {
    node: NodeId,
    started_at: Timestamp,
    finished_at: Timestamp,
    done: u64,
    failed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Jobs {
    items: Vec<JobView>,
}

/// Every job with its timing and its last round.
#[utoipa::path(get, path = "/api/admin/jobs", operation_id = "list_jobs", tag = "admin", security(("accessToken" = [])),
    responses((status = 200, body = Jobs), (status = 401, body = Problem),
              (status = 403, body = Problem)))]
pub(crate) async fn list(
    State(app): State<App>,
    _: Allowed<ViewOperations>,
) -> ApiResult<Json<Jobs>> {
    let mut runs = app.context.store.job_runs().await?;
    let mut last = |name: &str| {
        let index = runs.iter().position(|run| run.job == name)?;
        let run = runs.swap_remove(index);
        Some(LastRun {
            node: run.node,
            started_at: run.started_at,
            finished_at: run.finished_at,
            done: run.done,
            failed: run.failed,
            error: run.error,
        })
    };
    let view = |(job, runs): &(Job, String)| JobView {
        name: job.name(),
        about: job.about(),
        runs: runs.clone(),
        last: last(job.name()),
    };
    Ok(Json(Jobs { items: app.jobs.iter().map(view).collect() }))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoundView {
    done: u64,
    failed: u64,
    /// There is more to do: run it again.
    is_full: bool,
}

/// Runs one round of a job on this node now.
#[utoipa::path(post, path = "/api/admin/jobs/{name}/run", tag = "admin",
    security(("accessToken" = [])), params(("name" = String, Path)),
    responses((status = 200, body = RoundView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn run(
    State(app): State<App>,
    _: Audited<Operate>,
    Id(name): Id<String>,
) -> ApiResult<Json<RoundView>> {
    let job = Job::named(&name).ok_or(Refusal::NotFound)?;
    let round = run_by_hand(&app.context, job).await?;
    Ok(Json(RoundView { done: round.done, failed: round.failed, is_full: round.is_full }))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Statistics {
    grades: Vec<GradeStatistics>,
}

/// The seats sold of a date, by grade, as the booking worker counted them from messages: slightly
/// behind the seats themselves, and cheap to read.
#[utoipa::path(get, path = "/api/admin/schedules/{id}/statistics", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    responses((status = 200, body = Statistics), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn statistics(
    State(app): State<App>,
    _: Allowed<ViewSales, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Json<Statistics>> {
    app.context.store.schedule(schedule).await?.ok_or(Refusal::NotFound)?;
    Ok(Json(Statistics { grades: app.context.store.statistics(schedule).await? }))
}
