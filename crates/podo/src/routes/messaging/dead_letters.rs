//! Dead letters: list, show, replay, drop.

use crate::http::extract::permissions::{ManageIntegrations, ViewOperations};
use crate::http::extract::{Audited, Id, Params, guarded, page};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use podo_app::messaging::dead_letters;
use podo_app::messaging::dead_letters::DeadLetterLine;
use podo_app::messaging::port::dead_letters::{DeadLetterStatus, DeadLetterVerb};
use podo_app::store::Page;
use podo_domain::DeadLetterId;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use uuid::Uuid;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(guarded!(list))
        .routes(guarded!(show))
        .routes(guarded!(drop_one))
        .routes(guarded!(replay))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListParams {
    /// Only this status; all by default.
    #[param(inline)]
    status: Option<DeadLetterStatus>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// `nextCursor` of the previous page.
    cursor: Option<Uuid>,
}

/// Messages that a worker or the relay could not process, newest first.
#[utoipa::path(get, path = "/api/admin/dlq", operation_id = "list_dead_letters", tag = "admin",
    security(("accessToken" = [])), params(ListParams),
    responses((status = 200, body = Page<DeadLetterLine>), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn list(
    State(app): State<App>,
    _: Audited<ViewOperations>,
    Params(params): Params<ListParams>,
) -> ApiResult<Json<Page<DeadLetterLine>>> {
    let page = page(params.limit, params.cursor)?;
    Ok(Json(dead_letters::list(&app.context, params.status, page).await?))
}

/// A dead letter with its message as it was on the bus.
#[utoipa::path(get, path = "/api/admin/dlq/{id}", operation_id = "show_dead_letter", tag = "admin",
    security(("accessToken" = [])), params(("id" = DeadLetterId, Path)),
    responses((status = 200, body = DeadLetterLine), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn show(
    State(app): State<App>,
    _: Audited<ViewOperations>,
    Id(id): Id<DeadLetterId>,
) -> ApiResult<Json<DeadLetterLine>> {
    Ok(Json(dead_letters::show(&app.context, id).await?))
}

/// Replays a dead letter within a second or two.
#[utoipa::path(post, path = "/api/admin/dlq/{id}/replay", operation_id = "replay_dead_letter", tag = "admin",
    security(("accessToken" = [])), params(("id" = DeadLetterId, Path)),
    responses((status = 202), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn replay(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageIntegrations>,
    Id(id): Id<DeadLetterId>,
) -> ApiResult<StatusCode> {
    let context = &app.context;
    let (verb, now) = (DeadLetterVerb::Replay, context.now());
    context.store.close_dead_letter(id, verb, actor, now).await?;
    Ok(StatusCode::ACCEPTED)
}

/// Drops a dead letter for good; it stays in the list as dropped.
#[utoipa::path(delete, path = "/api/admin/dlq/{id}", tag = "admin",
    security(("accessToken" = [])), params(("id" = DeadLetterId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn drop_one(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageIntegrations>,
    Id(id): Id<DeadLetterId>,
) -> ApiResult<StatusCode> {
    let context = &app.context;
    let (verb, now) = (DeadLetterVerb::Drop, context.now());
    context.store.close_dead_letter(id, verb, actor, now).await?;
    Ok(StatusCode::NO_CONTENT)
}
