//! Webhooks of organisers.

use crate::api::App;
use crate::api::error::{ApiError, ApiResult, Failure, Problem};
use crate::api::extract::{
    AuditedAdmin, AuditedViewer, Body, Id, PageParams, Params, PathText, guarded, page,
};
use app::organisers::{self, EndpointEdit, EndpointUrl, EndpointView};
use app::paging::Page;
use app::ports::organisers::{Delivery, EndpointStatus};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::messages::MessageKind;
use domain::{EndpointId, Refusal};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(guarded!(list))
        .routes(guarded!(add))
        .routes(guarded!(change))
        .routes(guarded!(remove))
        .routes(guarded!(rotate))
        .routes(guarded!(deliveries))
        .routes(guarded!(replay))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EndpointBody {
    /// Https, on the public internet.
    url: EndpointUrl,
    /// What to tell of, by the names in docs/messages.md.
    #[schema(min_items = 1, example = json!(["ReservationConfirmed", "ReservationCanceled"]))]
    types: Vec<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EndpointChange {
    /// Left out to keep it.
    #[serde(default)]
    url: Option<EndpointUrl>,
    #[serde(default)]
    types: Option<Vec<String>>,
    /// `DISABLED` pauses it: nothing is noted for it meanwhile. Left out, it is active again.
    #[serde(default)]
    status: Option<EndpointStatus>,
}

#[derive(Serialize, ToSchema)]
pub(super) struct Endpoints {
    items: Vec<EndpointView>,
    /// Everything that an endpoint may ask to be told of.
    #[schema(value_type = Vec<String>)]
    types: Vec<MessageKind>,
}

fn kinds(types: &[String]) -> Result<Vec<MessageKind>, ApiError> {
    let wrong = |problem: &str| {
        ApiError::from(Failure::Field { pointer: "types".into(), problem: problem.to_owned() })
    };
    if types.is_empty() {
        return Err(wrong("blank"));
    }
    let read =
        |text: &String| MessageKind::parse(text).ok_or_else(|| wrong("unknown_message_type"));
    types.iter().map(read).collect()
}

/// Where organisers are told of messages.
#[utoipa::path(get, path = "/api/admin/webhooks", operation_id = "list_webhook_endpoints", tag = "admin", security(("accessToken" = [])),
    responses((status = 200, body = Endpoints), (status = 401, body = Problem),
              (status = 403, body = Problem)))]
pub(super) async fn list(State(app): State<App>, _: AuditedViewer) -> ApiResult<Json<Endpoints>> {
    let items = organisers::list(&app.platform).await?;
    Ok(Json(Endpoints { items, types: MessageKind::ALL.to_vec() }))
}

/// Adds an endpoint. Its secret is shown here and never again; messages are signed as Standard
/// Webhooks says.
#[utoipa::path(post, path = "/api/admin/webhooks", tag = "admin", security(("accessToken" = [])),
    request_body = EndpointBody,
    responses((status = 201, body = EndpointView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn add(
    State(app): State<App>,
    AuditedAdmin(actor): AuditedAdmin,
    body: Body<EndpointBody>,
) -> ApiResult<(StatusCode, Json<EndpointView>)> {
    let EndpointBody { url, types } = body.value;
    let made = organisers::add(&app.platform, actor, url, kinds(&types)?).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// Changes an endpoint or pauses it; one that was disabled is active again unless it says otherwise.
#[utoipa::path(patch, path = "/api/admin/webhooks/{id}", operation_id = "change_webhook_endpoint", tag = "admin",
    security(("accessToken" = [])), params(("id" = EndpointId, Path)),
    request_body = EndpointChange,
    responses((status = 200, body = EndpointView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn change(
    State(app): State<App>,
    AuditedAdmin(actor): AuditedAdmin,
    Id(id): Id<EndpointId>,
    body: Body<EndpointChange>,
) -> ApiResult<Json<EndpointView>> {
    let EndpointChange { url, types, status } = body.value;
    let kinds = types.as_deref().map(kinds).transpose()?;
    let edit = EndpointEdit { url, kinds, status };
    Ok(Json(organisers::change(&app.platform, actor, id, edit).await?))
}

/// Removes an endpoint and the log of its deliveries.
#[utoipa::path(delete, path = "/api/admin/webhooks/{id}", operation_id = "remove_webhook_endpoint", tag = "admin",
    security(("accessToken" = [])), params(("id" = EndpointId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem)))]
pub(super) async fn remove(
    State(app): State<App>,
    AuditedAdmin(actor): AuditedAdmin,
    Id(id): Id<EndpointId>,
) -> ApiResult<StatusCode> {
    organisers::remove(&app.platform, actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Makes a new secret. Messages are signed with the old one too until the next change.
#[utoipa::path(post, path = "/api/admin/webhooks/{id}/secret", tag = "admin",
    security(("accessToken" = [])), params(("id" = EndpointId, Path)),
    responses((status = 200, body = EndpointView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(super) async fn rotate(
    State(app): State<App>,
    AuditedAdmin(actor): AuditedAdmin,
    Id(id): Id<EndpointId>,
) -> ApiResult<Json<EndpointView>> {
    Ok(Json(organisers::rotate_secret(&app.platform, actor, id).await?))
}

/// What was sent to an endpoint and what it answered, the newest first.
#[utoipa::path(get, path = "/api/admin/webhooks/{id}/deliveries", tag = "admin",
    security(("accessToken" = [])), params(("id" = EndpointId, Path), PageParams),
    responses((status = 200, body = Page<Delivery>), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(super) async fn deliveries(
    State(app): State<App>,
    _: AuditedViewer,
    Id(id): Id<EndpointId>,
    Params(params): Params<PageParams>,
) -> ApiResult<Json<Page<Delivery>>> {
    let page = page(params.limit, params.cursor)?;
    Ok(Json(organisers::deliveries(&app.platform, id, page).await?))
}

/// Sends a message again.
#[utoipa::path(post, path = "/api/admin/webhooks/{id}/deliveries/{delivery}/replay", operation_id = "replay_webhook_delivery", tag = "admin",
    security(("accessToken" = [])),
    params(("id" = EndpointId, Path), ("delivery" = domain::DeliveryId, Path)),
    responses((status = 202), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem)))]
pub(super) async fn replay(
    State(app): State<App>,
    AuditedAdmin(actor): AuditedAdmin,
    Id(id): Id<EndpointId>,
    PathText(delivery): PathText,
) -> ApiResult<StatusCode> {
    let delivery = delivery.parse().map_err(|_error| Refusal::NotFound)?;
    organisers::replay(&app.platform, actor, id, delivery).await?;
    Ok(StatusCode::ACCEPTED)
}
