//! Organisers' webhook endpoints.

use crate::http::extract::permissions::{ManageIntegrations, ViewOperations};
use crate::http::extract::{Audited, Body, Id, PageParams, Params, PathText, guarded, page};
use crate::http::problem::{ApiError, ApiResult, Failure, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use podo_app::messaging::port::webhook_endpoints::{Delivery, EndpointStatus};
use podo_app::messaging::webhook_endpoints;
use podo_app::messaging::webhook_endpoints::{EndpointEdit, EndpointUrl, EndpointView};
use podo_app::store::Page;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::{EndpointId, Refusal};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn routes() -> OpenApiRouter<App> {
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
pub(crate) struct EndpointBody {
    /// HTTPS, on the public internet.
    url: EndpointUrl,
    /// The message types to deliver, by their names in docs/messages.md.
    #[schema(min_items = 1, example = json!(["ReservationConfirmed", "ReservationCanceled"]))]
    types: Vec<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndpointChange {
    /// Omit to keep it.
    #[serde(default)]
    url: Option<EndpointUrl>,
    #[serde(default)]
    types: Option<Vec<String>>,
    /// `DISABLED` pauses the endpoint: messages in the meantime are not delivered later. By default
    /// it becomes active again.
    #[serde(default)]
    status: Option<EndpointStatus>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Endpoints {
    items: Vec<EndpointView>,
    /// All message types that an endpoint can subscribe to.
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

/// The webhook endpoints.
#[utoipa::path(get, path = "/api/admin/webhooks", operation_id = "list_webhook_endpoints", tag = "admin", security(("accessToken" = [])),
    responses((status = 200, body = Endpoints), (status = 401, body = Problem),
              (status = 403, body = Problem)))]
pub(crate) async fn list(
    State(app): State<App>,
    _: Audited<ViewOperations>,
) -> ApiResult<Json<Endpoints>> {
    let items = webhook_endpoints::list(&app.context).await?;
    Ok(Json(Endpoints { items, types: MessageKind::ALL.to_vec() }))
}

/// Adds an endpoint. The response shows its secret, once; messages are signed according to Standard
/// Webhooks.
#[utoipa::path(post, path = "/api/admin/webhooks", tag = "admin", security(("accessToken" = [])),
    request_body = EndpointBody,
    responses((status = 201, body = EndpointView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn add(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageIntegrations>,
    body: Body<EndpointBody>,
) -> ApiResult<(StatusCode, Json<EndpointView>)> {
    let EndpointBody { url, types } = body.value;
    let made = webhook_endpoints::add(&app.context, actor, url, kinds(&types)?).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// Changes or pauses an endpoint; a disabled one becomes active unless the request says otherwise.
#[utoipa::path(patch, path = "/api/admin/webhooks/{id}", operation_id = "change_webhook_endpoint", tag = "admin",
    security(("accessToken" = [])), params(("id" = EndpointId, Path)),
    request_body = EndpointChange,
    responses((status = 200, body = EndpointView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn change(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageIntegrations>,
    Id(id): Id<EndpointId>,
    body: Body<EndpointChange>,
) -> ApiResult<Json<EndpointView>> {
    let EndpointChange { url, types, status } = body.value;
    let kinds = types.as_deref().map(kinds).transpose()?;
    let edit = EndpointEdit { url, kinds, status };
    Ok(Json(webhook_endpoints::change(&app.context, actor, id, edit).await?))
}

/// Deletes an endpoint and its delivery log.
#[utoipa::path(delete, path = "/api/admin/webhooks/{id}", operation_id = "remove_webhook_endpoint", tag = "admin",
    security(("accessToken" = [])), params(("id" = EndpointId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem)))]
pub(crate) async fn remove(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageIntegrations>,
    Id(id): Id<EndpointId>,
) -> ApiResult<StatusCode> {
    webhook_endpoints::remove(&app.context, actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Rotates the secret. Messages are also signed with the old one until the next rotation.
#[utoipa::path(post, path = "/api/admin/webhooks/{id}/secret", tag = "admin",
    security(("accessToken" = [])), params(("id" = EndpointId, Path)),
    responses((status = 200, body = EndpointView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn rotate(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageIntegrations>,
    Id(id): Id<EndpointId>,
) -> ApiResult<Json<EndpointView>> {
    Ok(Json(webhook_endpoints::rotate_secret(&app.context, actor, id).await?))
}

/// Deliveries to an endpoint with their responses, newest first.
#[utoipa::path(get, path = "/api/admin/webhooks/{id}/deliveries", tag = "admin",
    security(("accessToken" = [])), params(("id" = EndpointId, Path), PageParams),
    responses((status = 200, body = Page<Delivery>), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn deliveries(
    State(app): State<App>,
    _: Audited<ViewOperations>,
    Id(id): Id<EndpointId>,
    Params(params): Params<PageParams>,
) -> ApiResult<Json<Page<Delivery>>> {
    let page = page(params.limit, params.cursor)?;
    Ok(Json(webhook_endpoints::deliveries(&app.context, id, page).await?))
}

/// Redelivers a message.
#[utoipa::path(post, path = "/api/admin/webhooks/{id}/deliveries/{delivery}/replay", operation_id = "replay_webhook_delivery", tag = "admin",
    security(("accessToken" = [])),
    params(("id" = EndpointId, Path), ("delivery" = podo_domain::DeliveryId, Path)),
    responses((status = 202), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem)))]
pub(crate) async fn replay(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageIntegrations>,
    Id(id): Id<EndpointId>,
    PathText(delivery): PathText,
) -> ApiResult<StatusCode> {
    let delivery = delivery.parse().map_err(|_error| Refusal::NotFound)?;
    webhook_endpoints::replay(&app.context, actor, id, delivery).await?;
    Ok(StatusCode::ACCEPTED)
}
