//! What looked like a robot, for the fan and for organisers.

use super::App;
use super::error::{ApiResult, Problem};
use super::extract::{
    AuditedAdmin, AuditedViewer, Body, Fan, Id, PageParams, Params, guarded, page,
};
use app::paging::Page;
use app::ports::signals::SignalsAsk;
use app::signals::{self, SignalView};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::signals::AppealVerdict;
use domain::text::Prose;
use domain::{SignalId, UserId};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(mine))
        .routes(routes!(appeal))
        .routes(guarded!(list))
        .routes(guarded!(decide))
}

/// What about the fan looked like a robot, and why. Nobody is shut out by it alone.
#[utoipa::path(get, path = "/api/users/me/signals", tag = "accounts",
    security(("accessToken" = [])), params(PageParams),
    responses((status = 200, body = Page<SignalView>), (status = 401, body = Problem)))]
pub(super) async fn mine(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<PageParams>,
) -> ApiResult<Json<Page<SignalView>>> {
    let page = page(params.limit, params.cursor)?;
    Ok(Json(signals::my_signals(&app.platform, caller.user, page).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AppealBody {
    text: Prose<1000>,
}

/// Says why it was no robot. An organiser will look at it.
#[utoipa::path(post, path = "/api/users/me/signals/{id}/appeal", tag = "accounts",
    security(("accessToken" = [])), params(("id" = SignalId, Path)), request_body = AppealBody,
    responses((status = 204), (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn appeal(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(signal): Id<SignalId>,
    body: Body<AppealBody>,
) -> ApiResult<StatusCode> {
    signals::appeal(&app.platform, caller.user, signal, &body.value.text).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SignalParams {
    /// Only this fan's.
    #[param(value_type = Option<String>, format = Uuid)]
    user_id: Option<UserId>,
    /// Only those that were appealed against and wait for a verdict.
    appealed: Option<bool>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// `nextCursor` of the page before.
    cursor: Option<Uuid>,
}

/// What looked like a robot, newest first.
#[utoipa::path(get, path = "/api/admin/signals", operation_id = "list_bot_signals", tag = "admin",
    security(("accessToken" = [])), params(SignalParams),
    responses((status = 200, body = Page<SignalView>), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn list(
    State(app): State<App>,
    _: AuditedViewer,
    Params(params): Params<SignalParams>,
) -> ApiResult<Json<Page<SignalView>>> {
    let asked = SignalsAsk {
        user: params.user_id,
        only_open: params.appealed.unwrap_or(false),
        page: page(params.limit, params.cursor)?,
    };
    Ok(Json(signals::list(&app.platform, asked).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AppealVerdictBody {
    verdict: AppealVerdict,
}

/// Decides about a signal: it stands, or it was a mistake.
#[utoipa::path(post, path = "/api/admin/signals/{id}/verdict", tag = "admin",
    security(("accessToken" = [])), params(("id" = SignalId, Path)), request_body = AppealVerdictBody,
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn decide(
    State(app): State<App>,
    AuditedAdmin(actor): AuditedAdmin,
    Id(signal): Id<SignalId>,
    body: Body<AppealVerdictBody>,
) -> ApiResult<StatusCode> {
    signals::decide(&app.platform, actor, signal, body.value.verdict).await?;
    Ok(StatusCode::NO_CONTENT)
}
