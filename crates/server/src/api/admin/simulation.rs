//! Simulated fans, started and watched from the control room. They come through the same doors as
//! people, so only where no real money is taken.

use crate::api::App;
use crate::api::error::{ApiError, ApiResult, Failure, Problem};
use crate::api::extract::{AuditedAdmin, Body, Viewer, guarded};
use crate::simulation::State as Crowd;
use app::Error;
use app::ports::audit::AuditNote;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::{Refusal, ScheduleId, UserId};
use load::{Arrival, Favour, Plan, Report, Step, Target};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(guarded!(show)).routes(guarded!(start)).routes(guarded!(stop))
}

const FANS_MAX: u32 = 20_000;
const SECONDS_MAX: u32 = 600;
const THINK_MS_MAX: u32 = 60_000;

/// How the fans come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum Curve {
    /// Over the time, most of them soon.
    #[default]
    Rush,
    /// Evenly over the time.
    Even,
    /// All at the same moment.
    AtOnce,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SimulationBody {
    schedule_id: ScheduleId,
    #[schema(minimum = 1, maximum = 20_000)]
    fans: u32,
    /// How long it takes until all have come.
    #[schema(maximum = 600)]
    seconds: u32,
    #[serde(default)]
    arrival: Curve,
    /// How many of a hundred are programs: they do not think, and want the front.
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

    fn plan(&self, seed: u64) -> Plan {
        let length = Duration::from_secs(u64::from(self.seconds));
        Plan {
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
            ..Plan::for_schedule(self.schedule_id)
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum SimulationStatus {
    Idle,
    Running,
    Done,
    Failed,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SimulationView {
    status: SimulationStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule_id: Option<ScheduleId>,
    fans: u32,
    progress: ProgressCounts,
    /// There once everybody is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<ReportView>,
}

#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProgressCounts {
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
pub(super) struct ReportView {
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

/// How the simulated fans are doing on this node.
#[utoipa::path(get, path = "/api/admin/simulation", operation_id = "show_simulation", tag = "admin",
    security(("accessToken" = [])),
    responses((status = 200, body = SimulationView), (status = 401, body = Problem),
              (status = 403, body = Problem)))]
pub(super) async fn show(State(app): State<App>, _: Viewer) -> ApiResult<Json<SimulationView>> {
    Ok(Json(app.simulation.state().into()))
}

/// Sends simulated fans to a date; while a crowd is there already, that one is shown instead. Not
/// found where real money is taken. The limits by address count for them too.
#[utoipa::path(post, path = "/api/admin/simulation", operation_id = "start_simulation", tag = "admin",
    security(("accessToken" = [])), request_body = SimulationBody,
    responses((status = 200, body = SimulationView), (status = 202, body = SimulationView),
              (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn start(
    State(app): State<App>,
    AuditedAdmin(actor): AuditedAdmin,
    body: Body<SimulationBody>,
) -> ApiResult<(StatusCode, Json<SimulationView>)> {
    let asked = body.value;
    asked.check()?;
    if app.sandbox.is_none() {
        return Err(Refusal::NotFound.into());
    }
    app.platform.store.schedule(asked.schedule_id).await?.ok_or(Refusal::NotFound)?;
    // A node that listens everywhere is reached at home.
    let port = app.address.port();
    let target = Target::at(&format!("http://127.0.0.1:{port}")).map_err(Error::broken)?;
    let what = json!({ "scheduleId": asked.schedule_id, "fans": asked.fans });
    note(&app, actor, "simulation.start", what).await?;
    let plan = asked.plan(app.platform.chance.number());
    let is_started = app.simulation.start(&app.platform, &app.tasks, (plan, target));
    let status = if is_started { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok((status, Json(app.simulation.state().into())))
}

/// Sends the simulated fans home.
#[utoipa::path(delete, path = "/api/admin/simulation", tag = "admin",
    security(("accessToken" = [])),
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem)))]
pub(super) async fn stop(
    State(app): State<App>,
    AuditedAdmin(actor): AuditedAdmin,
) -> ApiResult<StatusCode> {
    note(&app, actor, "simulation.stop", json!({})).await?;
    app.simulation.stop();
    Ok(StatusCode::NO_CONTENT)
}

async fn note(app: &App, actor: UserId, action: &'static str, details: Value) -> app::Result<()> {
    let now = app.platform.now();
    let note = AuditNote { actor, action, subject: "simulation".to_owned(), details, now };
    app.platform.store.note(note).await
}
