//! Simulated fans, started and watched from the control room. They use the same API as people, so
//! they exist only if no real money is taken.

use crate::http::extract::permissions::{Operate, ViewOperations};
use crate::http::extract::{Allowed, Audited, Body, guarded};
use crate::http::problem::{ApiError, ApiResult, Failure, Problem};
use crate::routes::App;
use crate::simulation::State as Crowd;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use podo_app::Error;
use podo_app::operations::port::audit::AuditNote;
use podo_domain::{Refusal, ScheduleId, UserId};
use podo_load::{Arrival, Favour, LoadPlan, Report, Step, Target};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(guarded!(show)).routes(guarded!(start)).routes(guarded!(stop))
}

const FANS_MAX: u32 = 20_000;
const SECONDS_MAX: u32 = 600;
const THINK_MS_MAX: u32 = 60_000;

/// Loopback addresses that the fans call from: at a hundred requests per second each, more than
/// this machine can serve beside them. An attacker outside can't send from a loopback address.
const HOMES: usize = 256;

/// How the fans arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Curve {
    /// Over the given time, most of them early.
    #[default]
    Rush,
    /// Evenly over the given time.
    Even,
    /// All at once.
    AtOnce,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SimulationBody {
    schedule_id: ScheduleId,
    #[schema(minimum = 1, maximum = 20_000)]
    fans: u32,
    /// Seconds until all have arrived.
    #[schema(maximum = 600)]
    seconds: u32,
    #[serde(default)]
    arrival: Curve,
    /// Percentage of bots: they don't think, and want the front rows.
    #[serde(default)]
    #[schema(maximum = 100)]
    bot_percent: u32,
    /// How long the others think before each step.
    #[serde(default)]
    #[schema(maximum = 60_000)]
    think_ms: u32,
}

impl SimulationBody {
    fn check(&self) -> Result<(), ApiError> {
        let limits = [
            ("fans", self.fans, 1, FANS_MAX),
            ("seconds", self.seconds, 0, SECONDS_MAX),
            ("botPercent", self.bot_percent, 0, 100),
            ("thinkMs", self.think_ms, 0, THINK_MS_MAX),
        ];
        let wrong = limits.iter().find(|(_, value, min, max)| !(min..=max).contains(&value));
        let Some((field, _, min, max)) = wrong else { return Ok(()) };
        let problem = format!("out_of_range:{min}..{max}");
        Err(Failure::Field { pointer: (*field).into(), problem }.into())
    }

    fn plan(&self, seed: u64) -> LoadPlan {
        let length = Duration::from_secs(u64::from(self.seconds));
        LoadPlan {
            fans: self.fans,
            favour: Favour::Anywhere,
            abandon_share: 0.15,
            card_share: 0.3,
            decline_share: 0.05,
            bot_share: f64::from(self.bot_percent) / 100.0,
            arrival: match self.arrival {
                Curve::Rush => Arrival::Rush(length),
                Curve::Even => Arrival::Over(length),
                Curve::AtOnce => Arrival::AtOnce,
            },
            think_time: Duration::from_millis(u64::from(self.think_ms)),
            patience: Duration::from_secs(1_800),
            seed,
            ..LoadPlan::for_schedule(self.schedule_id)
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum SimulationStatus {
    Idle,
    Running,
    Done,
    Failed,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SimulationView {
    status: SimulationStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule_id: Option<ScheduleId>,
    fans: u32,
    progress: ProgressCounts,
    /// Present once all fans have finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<ReportView>,
}

#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProgressCounts {
    started: u64,
    admitted: u64,
    bought: u64,
    finished: u64,
    requests: u64,
    unexpected: u64,
}

/// What the crowd measured.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReportView {
    elapsed_seconds: u64,
    requests_per_second: f64,
    purchases_per_second: f64,
    select_p99_ms: u64,
    queue_p99_ms: u64,
    unexpected: u64,
}

impl From<&Report> for ReportView {
    fn from(report: &Report) -> ReportView {
        let p99_ms = |step: Step| {
            let found = report.steps.iter().find(|it| it.step == step);
            found.map_or(0, |it| it.p99_us.div_ceil(1_000))
        };
        ReportView {
            elapsed_seconds: report.elapsed_ms / 1_000,
            requests_per_second: report.requests_per_second,
            purchases_per_second: report.purchases_per_second,
            select_p99_ms: p99_ms(Step::Select),
            queue_p99_ms: p99_ms(Step::Poll),
            unexpected: report.unexpected,
        }
    }
}

impl From<Crowd> for SimulationView {
    fn from(crowd: Crowd) -> SimulationView {
        let status = match (crowd.is_running(), &crowd.plan, &crowd.error) {
            (true, _, _) => SimulationStatus::Running,
            (false, None, _) => SimulationStatus::Idle,
            (false, Some(_), Some(_)) => SimulationStatus::Failed,
            (false, Some(_), None) => SimulationStatus::Done,
        };
        let progress = crowd.progress.map(|it| ProgressCounts {
            started: it.started,
            admitted: it.admitted,
            bought: it.bought,
            finished: it.finished,
            requests: it.requests,
            unexpected: it.unexpected,
        });
        SimulationView {
            status,
            schedule_id: crowd.plan.as_ref().map(|plan| plan.schedule),
            fans: crowd.plan.as_ref().map_or(0, |plan| plan.fans),
            progress: progress.unwrap_or_default(),
            report: crowd.report.as_deref().map(ReportView::from),
        }
    }
}

/// The state of the simulated fans on this node.
#[utoipa::path(get, path = "/api/admin/simulation", operation_id = "show_simulation", tag = "admin",
    security(("accessToken" = [])),
    responses((status = 200, body = SimulationView), (status = 401, body = Problem),
              (status = 403, body = Problem)))]
pub(crate) async fn show(
    State(app): State<App>,
    _: Allowed<ViewOperations>,
) -> ApiResult<Json<SimulationView>> {
    Ok(Json(app.simulation.state().into()))
}

/// Sends simulated fans to a date; if a crowd is already running, returns that one instead. Not
/// found if real money is taken. They call from loopback addresses of their own, so the limits per
/// address apply to them as to people at home, and don't affect the organiser.
#[utoipa::path(post, path = "/api/admin/simulation", operation_id = "start_simulation", tag = "admin",
    security(("accessToken" = [])), request_body = SimulationBody,
    responses((status = 200, body = SimulationView), (status = 202, body = SimulationView),
              (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn start(
    State(app): State<App>,
    Audited { actor, .. }: Audited<Operate>,
    body: Body<SimulationBody>,
) -> ApiResult<(StatusCode, Json<SimulationView>)> {
    let asked = body.value;
    asked.check()?;
    if app.sandbox.is_none() {
        return Err(Refusal::NotFound.into());
    }
    app.context.store.schedule(asked.schedule_id).await?.ok_or(Refusal::NotFound)?;
    // If the node listens on all addresses, the fans use loopback.
    let port = app.address.port();
    let target = Target::at(&format!("http://127.0.0.1:{port}")).map_err(Error::broken)?;
    let target = target.from_addresses(HOMES);
    let what = json!({ "scheduleId": asked.schedule_id, "fans": asked.fans });
    note(&app, actor, "simulation.start", what).await?;
    let plan = asked.plan(app.context.rng.number());
    let is_started = app.simulation.start(&app.context, &app.tasks, plan, target);
    let status = if is_started { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok((status, Json(app.simulation.state().into())))
}

/// Stops the simulated fans.
#[utoipa::path(delete, path = "/api/admin/simulation", tag = "admin",
    security(("accessToken" = [])),
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem)))]
pub(crate) async fn stop(
    State(app): State<App>,
    Audited { actor, .. }: Audited<Operate>,
) -> ApiResult<StatusCode> {
    note(&app, actor, "simulation.stop", json!({})).await?;
    app.simulation.stop();
    Ok(StatusCode::NO_CONTENT)
}

async fn note(
    app: &App,
    actor: UserId,
    action: &'static str,
    details: Value,
) -> podo_app::Result<()> {
    let now = app.context.now();
    let note = AuditNote { actor, action, subject: "simulation".to_owned(), details, now };
    app.context.store.note(note).await
}
