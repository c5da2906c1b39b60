//! The waiting room.

mod history;
mod stream;

use super::error::{ApiResult, Problem};
use super::extract::{Body, Fan, Id, PLACE_TOKEN, Params, Poller, text_of};
use super::language::Language;
use super::{App, Shared};
use app::queue::{self, DrawView, EntryView, ProgressView, QueueView};
use app::signals;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use domain::signals::SignalKind;
use domain::{ScheduleId, UserId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(enter))
        .routes(routes!(status))
        .routes(routes!(position))
        .routes(routes!(stream::stream))
        .routes(routes!(extend))
        .routes(routes!(leave))
        .routes(routes!(show_progress))
        .routes(routes!(show_draw))
        .routes(routes!(history::my_places))
}

const PAUSED_KO: &str = "잠시 입장이 멈췄습니다. 순서는 그대로 유지되니 이 화면에서 기다려 주세요.";
const PAUSED_EN: &str = "Paused for a moment. Your place is kept: please stay on this page.";

const CANCELED_KO: &str =
    "이 회차는 취소되었습니다. 결제한 금액이 있으면 전액 자동으로 환불됩니다.";
const CANCELED_EN: &str =
    "This date is canceled. Anything you paid is refunded in full, automatically.";

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct QueueScheduleBody {
    pub(super) schedule_id: ScheduleId,
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
    security(("accessToken" = [])), request_body = QueueScheduleBody,
    params(("Queue-Token" = Option<String>, Header),
           ("Challenge-Answer" = Option<String>, Header,
            description = "`salt.number`, after a 403 `CHALLENGE_REQUIRED`")),
    responses((status = 200, body = QueueView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem),
              (status = 429, body = Problem)))]
pub(super) async fn enter(
    State(app): State<App>,
    Fan(caller): Fan,
    headers: HeaderMap,
    body: Body<QueueScheduleBody>,
) -> ApiResult<Json<QueueView>> {
    let schedule = body.value.schedule_id;
    let token = text_of(&headers, PLACE_TOKEN);
    let asker = queue::asker(&app.platform, schedule, Some(caller), token)?;
    check_pace(&app, schedule, asker.fan).await?;
    let answer = text_of(&headers, "challenge-answer");
    let mut view = queue::enter(&app.platform, asker, schedule, answer).await?;
    localise(&mut view, || Language::of(&headers));
    Ok(Json(view))
}

/// Where the fan stands, and the entry token once they are let in.
#[utoipa::path(get, path = "/api/queue/status", tag = "queue",
    security(("accessToken" = [])), params(ScheduleParams, ("Queue-Token" = Option<String>, Header)),
    responses((status = 200, body = QueueView), (status = 401, body = Problem),
              (status = 404, body = Problem), (status = 429, body = Problem)))]
pub(super) async fn status(
    State(app): State<App>,
    poller: Poller,
    Params(params): Params<ScheduleParams>,
    headers: HeaderMap,
) -> ApiResult<Json<QueueView>> {
    let schedule = params.schedule_id;
    let token = poller.place_token.as_deref();
    let asker = queue::asker(&app.platform, schedule, poller.caller, token)?;
    check_pace(&app, schedule, asker.fan).await?;
    let mut view = queue::status(&app.platform, asker, schedule).await?;
    localise(&mut view, || Language::of(&headers));
    Ok(Json(view))
}

/// Puts off whoever asks far too fast, and notes it.
pub(super) async fn check_pace(app: &Shared, schedule: ScheduleId, fan: UserId) -> ApiResult<()> {
    let pace = queue::check_pace(&app.platform, schedule, fan);
    if pace.is_err() {
        let reason = "Asked far faster than told to".to_owned();
        let noted = signals::note(&app.platform, (fan, schedule), SignalKind::AsksTooFast, reason);
        // It happens to few: what it needs is not kept for every connection.
        Box::pin(noted).await;
    }
    Ok(pace?)
}

/// The organiser's message in the asker's language; without one, words that nobody moves for the
/// moment, or that the date is called off.
pub(super) fn localise(view: &mut QueueView, language: impl FnOnce() -> Language) {
    let in_english = view.message_en.take();
    let is_silent = (view.paused || view.canceled) && view.message.is_none();
    if in_english.is_none() && !is_silent {
        return;
    }
    let language = language();
    if is_silent {
        let words = if view.canceled { (CANCELED_KO, CANCELED_EN) } else { (PAUSED_KO, PAUSED_EN) };
        view.message = Some(language.choose(words.0, words.1).to_owned());
    }
    if language == Language::English && in_english.is_some() {
        view.message = in_english;
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
              (status = 404, body = Problem), (status = 429, body = Problem)))]
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
    security(("accessToken" = [])), request_body = QueueScheduleBody,
    responses((status = 200, body = EntryView), (status = 401, body = Problem),
              (status = 409, body = Problem)))]
pub(super) async fn extend(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<QueueScheduleBody>,
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
    let (schedule, token) = (params.schedule_id, text_of(&headers, PLACE_TOKEN));
    let asker = queue::asker(&app.platform, schedule, Some(caller), token)?;
    queue::leave(&app.platform, asker, schedule).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// How the queue moves, the same for everybody: made to be cached for a second by whatever stands
/// between us and the fans. A page that knows its place `number` computes its own position:
/// `min(number - admittedUpTo, waiting)`. Fans who left in between make that an upper bound; `status`
/// tells it exactly.
#[utoipa::path(get, path = "/api/queue/{id}/progress", tag = "queue",
    params(("id" = ScheduleId, Path)),
    responses((status = 200, body = ProgressView), (status = 404, body = Problem)))]
pub(super) async fn show_progress(
    State(app): State<App>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<impl IntoResponse> {
    let mut view = queue::progress(&app.platform, schedule).await?;
    if view.canceled && view.message.is_none() {
        view.message = Some(CANCELED_KO.to_owned());
        view.message_en = Some(CANCELED_EN.to_owned());
    }
    Ok(([(header::CACHE_CONTROL, "public, max-age=1")], Json(view)))
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
