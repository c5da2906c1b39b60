//! The waiting room.

use crate::http::extract::{Body, ClientHeaders, Fan, Id, Params, Poller};
use crate::http::language::Language;
use crate::http::problem::{ApiResult, Problem};
use crate::http::respond::answer::HotResponse;
use crate::routes::{App, AppState};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use podo_app::identity::bot_signals;
use podo_app::waiting_room;
use podo_app::waiting_room::{DrawView, EntryView, ProgressView, QueueView};
use podo_domain::identity::bot_signals::SignalKind;
use podo_domain::{PhaseId, ScheduleId, UserId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(enter))
        .routes(routes!(status))
        .routes(routes!(position))
        .routes(routes!(crate::routes::waiting_room::stream::stream))
        .routes(routes!(extend))
        .routes(routes!(leave))
        .routes(routes!(show_progress))
        .routes(routes!(show_draw))
        .routes(routes!(crate::routes::waiting_room::history::my_places))
}

const PAUSED_KO: &str = "잠시 입장이 멈췄어요. 순서는 그대로 유지되니 이 화면에서 기다려 주세요.";
const PAUSED_EN: &str = "Paused for a moment. Your place is kept: please stay on this page.";

const CANCELED_KO: &str = "이 회차는 취소되었어요. 결제한 금액이 있으면 전액 자동으로 환불돼요.";
const CANCELED_EN: &str =
    "This date has been canceled. Everything you paid is refunded automatically.";

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct QueueScheduleBody {
    pub(crate) schedule_id: ScheduleId,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EnterBody {
    schedule_id: ScheduleId,
    /// Enters the waiting room of this phase; by default that of the running or next one.
    #[serde(default)]
    phase_id: Option<PhaseId>,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ScheduleParams {
    #[param(value_type = String, format = Uuid)]
    pub(crate) schedule_id: ScheduleId,
}

/// Enters the queue. Entering again, from any device, returns the same place. An earlier
/// `Queue-Token` restores its place.
#[utoipa::path(post, path = "/api/queue/enter", tag = "queue",
    security(("accessToken" = [])), request_body = EnterBody,
    params(("Queue-Token" = Option<String>, Header),
           ("Challenge-HotResponse" = Option<String>, Header,
            description = "`salt.number`, after a 403 `CHALLENGE_REQUIRED`")),
    responses((status = 200, body = QueueView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem),
              (status = 429, body = Problem)))]
pub(crate) async fn enter(
    State(app): State<App>,
    fan: Fan,
    headers: HeaderMap,
    body: Body<EnterBody>,
) -> ApiResult<HotResponse> {
    let EnterBody { schedule_id, phase_id } = body.value;
    let headers = ClientHeaders::of(&headers);
    enter_queue(&app, fan, schedule_id, phase_id, &headers).await.map(HotResponse::Place)
}

/// Enters the queue, on either transport.
pub(crate) async fn enter_queue(
    app: &AppState,
    Fan(caller): Fan,
    schedule: ScheduleId,
    phase: Option<PhaseId>,
    headers: &ClientHeaders<'_>,
) -> ApiResult<QueueView> {
    let context = &app.context;
    let asker = waiting_room::asker(context, schedule, Some(caller), headers.place_token)?;
    let asker = match phase {
        // Rare; boxing keeps the future of every connection small.
        Some(phase) => Box::pin(waiting_room::in_phase(context, asker, phase)).await?,
        None => asker,
    };
    check_pace(app, schedule, asker.fan).await?;
    let answer = headers.challenge_answer;
    let mut view = waiting_room::enter(context, asker, answer).await?;
    localise(&mut view, || headers.language());
    Ok(view)
}

/// The fan's position, and the entry token after admission.
#[utoipa::path(get, path = "/api/queue/status", tag = "queue",
    security(("accessToken" = [])), params(ScheduleParams, ("Queue-Token" = Option<String>, Header)),
    responses((status = 200, body = QueueView), (status = 401, body = Problem),
              (status = 404, body = Problem), (status = 429, body = Problem)))]
pub(crate) async fn status(
    State(app): State<App>,
    poller: Poller,
    Params(params): Params<ScheduleParams>,
    headers: HeaderMap,
) -> ApiResult<HotResponse> {
    let headers = ClientHeaders::of(&headers);
    poll(&app, poller, params.schedule_id, &headers).await.map(HotResponse::Place)
}

/// Returns the fan's position, on either transport.
pub(crate) async fn poll(
    app: &AppState,
    poller: Poller,
    schedule: ScheduleId,
    headers: &ClientHeaders<'_>,
) -> ApiResult<QueueView> {
    let context = &app.context;
    let asker = waiting_room::asker(context, schedule, poller.caller, headers.place_token)?;
    check_pace(app, schedule, asker.fan).await?;
    let mut view = waiting_room::status(context, asker, schedule).await?;
    localise(&mut view, || headers.language());
    Ok(view)
}

/// Rate limits polls; records a bot signal for an excessive rate.
async fn check_pace(app: &AppState, schedule: ScheduleId, fan: UserId) -> ApiResult<()> {
    let pace = waiting_room::check_pace(&app.context, schedule, fan);
    if pace.is_err() {
        let reason = "Polled far faster than the given interval".to_owned();
        let noted = bot_signals::note(&app.context, fan, schedule, SignalKind::AsksTooFast, reason);
        // Rare; boxing keeps the future of every connection small.
        Box::pin(noted).await;
    }
    Ok(pace?)
}

/// The organiser's message in the client's language; by default, the message of a paused queue or a
/// canceled date.
pub(crate) fn localise(view: &mut QueueView, language: impl FnOnce() -> Language) {
    let in_english = view.message_en.take();
    let is_silent = (view.paused || view.canceled) && view.message.is_none();
    if in_english.is_none() && !is_silent {
        return;
    }
    let language = language();
    if is_silent {
        let words = if view.canceled { (CANCELED_KO, CANCELED_EN) } else { (PAUSED_KO, PAUSED_EN) };
        view.message = Some(language.say(words.0, words.1).to_owned());
    }
    if language != Language::Korean && in_english.is_some() {
        view.message = in_english;
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PositionView {
    position: u64,
    ahead: u64,
    estimated_wait: Option<u32>,
}

/// The fan's position only.
#[utoipa::path(get, path = "/api/queue/position", tag = "queue",
    security(("accessToken" = [])), params(ScheduleParams, ("Queue-Token" = Option<String>, Header)),
    responses((status = 200, body = PositionView), (status = 401, body = Problem),
              (status = 404, body = Problem), (status = 429, body = Problem)))]
pub(crate) async fn position(
    State(app): State<App>,
    poller: Poller,
    Params(params): Params<ScheduleParams>,
    headers: HeaderMap,
) -> ApiResult<Json<PositionView>> {
    let view = poll(&app, poller, params.schedule_id, &ClientHeaders::of(&headers)).await?;
    Ok(Json(PositionView {
        position: view.position,
        ahead: view.ahead,
        estimated_wait: view.estimated_wait,
    }))
}

/// Extends the entry, at most twice.
#[utoipa::path(post, path = "/api/queue/extend", tag = "queue",
    security(("accessToken" = [])), request_body = QueueScheduleBody,
    responses((status = 200, body = EntryView), (status = 401, body = Problem),
              (status = 409, body = Problem)))]
pub(crate) async fn extend(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<QueueScheduleBody>,
) -> ApiResult<Json<EntryView>> {
    Ok(Json(waiting_room::extend(&app.context, caller.user, body.value.schedule_id).await?))
}

/// Leaves the queue, or gives up the entry.
#[utoipa::path(delete, path = "/api/queue/leave", tag = "queue",
    security(("accessToken" = [])), params(ScheduleParams, ("Queue-Token" = Option<String>, Header)),
    responses((status = 204), (status = 401, body = Problem)))]
pub(crate) async fn leave(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<ScheduleParams>,
    headers: HeaderMap,
) -> ApiResult<StatusCode> {
    let (schedule, token) = (params.schedule_id, ClientHeaders::of(&headers).place_token);
    let asker = waiting_room::asker(&app.context, schedule, Some(caller), token)?;
    waiting_room::leave(&app.context, asker, schedule).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The progress of the queue, the same for all fans: any cache between us and them may keep it for
/// a second. A page that knows its place `number` computes its own position: `min(number -
/// admittedUpTo, waiting)`. This is an upper bound, because fans in between may have left; `status`
/// returns the exact position.
#[utoipa::path(get, path = "/api/queue/{id}/progress", tag = "queue",
    params(("id" = ScheduleId, Path, description = "Of a date, or of one of its phases")),
    responses((status = 200, body = ProgressView), (status = 404, body = Problem)))]
pub(crate) async fn show_progress(
    State(app): State<App>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<impl IntoResponse> {
    let mut view = waiting_room::progress(&app.context, schedule).await?;
    if view.canceled && view.message.is_none() {
        view.message = Some(CANCELED_KO.to_owned());
        view.message_en = Some(CANCELED_EN.to_owned());
    }
    Ok(([(header::CACHE_CONTROL, "public, max-age=1")], Json(view)))
}

/// How the lobby's order is decided: the hash of the seed before the opening, the seed after it.
#[utoipa::path(get, path = "/api/queue/{id}/draw", tag = "queue",
    params(("id" = ScheduleId, Path, description = "Of a date, or of one of its phases")),
    responses((status = 200, body = DrawView), (status = 404, body = Problem)))]
pub(crate) async fn show_draw(
    State(app): State<App>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Json<DrawView>> {
    Ok(Json(waiting_room::show_draw(&app.context, schedule).await?))
}
