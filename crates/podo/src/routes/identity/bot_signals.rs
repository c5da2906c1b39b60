//! Bot signals, for the fan and for organisers.

use crate::http::extract::permissions::{SupportFans, ViewPeople};
use crate::http::extract::{Audited, Body, Fan, Id, PageParams, Params, guarded, page};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use podo_app::identity::bot_signals;
use podo_app::identity::bot_signals::SignalView;
use podo_app::identity::port::bot_signals::SignalQuery;
use podo_app::store::Page;
use podo_domain::catalog::text::Prose;
use podo_domain::identity::bot_signals::AppealVerdict;
use podo_domain::{SignalId, UserId};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(mine))
        .routes(routes!(appeal))
        .routes(guarded!(list))
        .routes(guarded!(decide))
}

/// The bot signals about the fan, with their reasons. A signal alone doesn't block anyone.
#[utoipa::path(get, path = "/api/users/me/signals", tag = "accounts",
    security(("accessToken" = [])), params(PageParams),
    responses((status = 200, body = Page<SignalView>), (status = 401, body = Problem)))]
pub(crate) async fn mine(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<PageParams>,
) -> ApiResult<Json<Page<SignalView>>> {
    let page = page(params.limit, params.cursor)?;
    Ok(Json(bot_signals::my_signals(&app.context, caller.user, page).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AppealBody {
    text: Prose<1000>,
}

/// Appeals against a signal. An organiser reviews the appeal.
#[utoipa::path(post, path = "/api/users/me/signals/{id}/appeal", tag = "accounts",
    security(("accessToken" = [])), params(("id" = SignalId, Path)), request_body = AppealBody,
    responses((status = 204), (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn appeal(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(signal): Id<SignalId>,
    body: Body<AppealBody>,
) -> ApiResult<StatusCode> {
    bot_signals::appeal(&app.context, caller.user, signal, &body.value.text).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SignalParams {
    /// Only signals about this fan.
    #[param(value_type = Option<String>, format = Uuid)]
    user_id: Option<UserId>,
    /// Only signals with an open appeal.
    appealed: Option<bool>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// `nextCursor` of the previous page.
    cursor: Option<Uuid>,
}

/// Bot signals, newest first.
#[utoipa::path(get, path = "/api/admin/signals", operation_id = "list_bot_signals", tag = "admin",
    security(("accessToken" = [])), params(SignalParams),
    responses((status = 200, body = Page<SignalView>), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn list(
    State(app): State<App>,
    _: Audited<ViewPeople>,
    Params(params): Params<SignalParams>,
) -> ApiResult<Json<Page<SignalView>>> {
    let asked = SignalQuery {
        user: params.user_id,
        only_open: params.appealed.unwrap_or(false),
        page: page(params.limit, params.cursor)?,
    };
    Ok(Json(bot_signals::list(&app.context, asked).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AppealVerdictBody {
    verdict: AppealVerdict,
}

/// Decides about a signal: upheld, or a mistake.
#[utoipa::path(post, path = "/api/admin/signals/{id}/verdict", tag = "admin",
    security(("accessToken" = [])), params(("id" = SignalId, Path)), request_body = AppealVerdictBody,
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn decide(
    State(app): State<App>,
    Audited { actor, .. }: Audited<SupportFans>,
    Id(signal): Id<SignalId>,
    body: Body<AppealVerdictBody>,
) -> ApiResult<StatusCode> {
    bot_signals::decide(&app.context, actor, signal, body.value.verdict).await?;
    Ok(StatusCode::NO_CONTENT)
}
