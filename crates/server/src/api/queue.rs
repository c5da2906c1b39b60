//! The waiting room.

use super::App;
use super::error::{ApiResult, Problem};
use super::extract::{Body, Fan, Id, PLACE_TOKEN, Params, Poller, text_of};
use super::language::Language;
use app::queue::{self, DrawView, EntryView, QueueView};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use domain::ScheduleId;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

const PAUSED_KO: &str = "잠시 입장이 멈췄습니다. 순서는 그대로 유지되니 이 화면에서 기다려 주세요.";
const PAUSED_EN: &str = "Paused for a moment. Your place is kept: please stay on this page.";

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ScheduleBody {
    schedule_id: ScheduleId,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ScheduleParams {
    #[param(value_type = String, format = Uuid)]
    schedule_id: ScheduleId,
}

/// Enters the queue. Entering again, from anywhere, answers the same place. A `Queue-Token` from
/// before brings back its place.
#[utoipa::path(post, path = "/api/queue/enter", tag = "queue",
    security(("accessToken" = [])), request_body = ScheduleBody,
    params(("Queue-Token" = Option<String>, Header)),
    responses((status = 200, body = QueueView), (status = 401, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn enter(
    State(app): State<App>,
    Fan(caller): Fan,
    headers: HeaderMap,
    body: Body<ScheduleBody>,
) -> ApiResult<Json<QueueView>> {
    let schedule = body.value.schedule_id;
    let token = text_of(&headers, PLACE_TOKEN);
    Ok(Json(queue::enter(&app.platform, caller.user, schedule, token).await?))
}

/// Where the fan stands, and the entry token once they are let in.
#[utoipa::path(get, path = "/api/queue/status", tag = "queue",
    security(("accessToken" = [])), params(ScheduleParams, ("Queue-Token" = Option<String>, Header)),
    responses((status = 200, body = QueueView), (status = 401, body = Problem),
              (status = 404, body = Problem)))]
pub(super) async fn status(
    State(app): State<App>,
    poller: Poller,
    Params(params): Params<ScheduleParams>,
    headers: HeaderMap,
) -> ApiResult<Json<QueueView>> {
    let schedule = params.schedule_id;
    let token = poller.place_token.as_deref();
    let asker = queue::asker(&app.platform, schedule, poller.caller, token)?;
    let mut view = queue::status(&app.platform, asker, schedule).await?;
    explain_pause(&mut view, || Language::of(&headers));
    Ok(Json(view))
}

/// Says in words that nobody moves for the moment.
pub(super) fn explain_pause(view: &mut QueueView, language: impl FnOnce() -> Language) {
    if view.paused {
        view.message = Some(language().choose(PAUSED_KO, PAUSED_EN).to_owned());
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PositionView {
    position: u64,
    ahead: u64,
    estimated_wait: Option<u32>,
}

/// The position alone.
#[utoipa::path(get, path = "/api/queue/position", tag = "queue",
    security(("accessToken" = [])), params(ScheduleParams, ("Queue-Token" = Option<String>, Header)),
    responses((status = 200, body = PositionView), (status = 401, body = Problem),
              (status = 404, body = Problem)))]
pub(super) async fn position(
    state: State<App>,
    poller: Poller,
    params: Params<ScheduleParams>,
    headers: HeaderMap,
) -> ApiResult<Json<PositionView>> {
    let Json(view) = status(state, poller, params, headers).await?;
    Ok(Json(PositionView {
        position: view.position,
        ahead: view.ahead,
        estimated_wait: view.estimated_wait,
    }))
}

/// More time inside, at most twice.
#[utoipa::path(post, path = "/api/queue/extend", tag = "queue",
    security(("accessToken" = [])), request_body = ScheduleBody,
    responses((status = 200, body = EntryView), (status = 401, body = Problem),
              (status = 409, body = Problem)))]
pub(super) async fn extend(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<ScheduleBody>,
) -> ApiResult<Json<EntryView>> {
    Ok(Json(queue::extend(&app.platform, caller.user, body.value.schedule_id).await?))
}

/// Gives up the place or the entry.
#[utoipa::path(delete, path = "/api/queue/leave", tag = "queue",
    security(("accessToken" = [])), params(ScheduleParams, ("Queue-Token" = Option<String>, Header)),
    responses((status = 204), (status = 401, body = Problem)))]
pub(super) async fn leave(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<ScheduleParams>,
    headers: HeaderMap,
) -> ApiResult<StatusCode> {
    let token = text_of(&headers, PLACE_TOKEN);
    queue::leave(&app.platform, caller.user, params.schedule_id, token).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// How the order of the lobby is decided: the seed's hash before the opening, the seed after it.
#[utoipa::path(get, path = "/api/queue/{id}/draw", tag = "queue",
    params(("id" = ScheduleId, Path)),
    responses((status = 200, body = DrawView), (status = 404, body = Problem)))]
pub(super) async fn show_draw(
    State(app): State<App>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Json<DrawView>> {
    Ok(Json(queue::show_draw(&app.platform, schedule).await?))
}
