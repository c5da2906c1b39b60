//! Resale at face value: a buyer gives a ticket back, and a fan on the standby list takes it.

use crate::http::extract::{Body, Fan, Id, key_of};
use crate::http::problem::{ApiResult, Problem};
use crate::http::respond::idempotent::once;
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use podo_app::operations::idempotency::RESALE;
use podo_app::payments::port::payments::Confirmed;
use podo_app::tickets::resale_port::ResaleView;
use podo_app::tickets::resales;
use podo_app::tickets::resales::MyResales;
use podo_domain::{ResaleId, TicketId, Won};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_resale, withdraw_resale))
        .routes(routes!(my_resales))
        .routes(routes!(take_resale))
}

/// Empty.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResaleBody {}

/// Gives a ticket back at the price paid, as soon as a fan on the standby list takes it. Until then
/// the ticket stays valid and the listing can be withdrawn. Listing it again returns the same
/// listing.
#[utoipa::path(post, path = "/api/tickets/{id}/resale", tag = "tickets",
    security(("accessToken" = [])), params(("id" = TicketId, Path)), request_body = ResaleBody,
    responses((status = 200, body = ResaleView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn list_resale(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(ticket): Id<TicketId>,
    body: Body<ResaleBody>,
) -> ApiResult<Json<ResaleView>> {
    let ResaleBody {} = body.value;
    Ok(Json(resales::list(&app.context, caller.user, ticket).await?))
}

/// Keeps a listed ticket.
#[utoipa::path(delete, path = "/api/tickets/{id}/resale", tag = "tickets",
    security(("accessToken" = [])), params(("id" = TicketId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn withdraw_resale(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(ticket): Id<TicketId>,
) -> ApiResult<StatusCode> {
    resales::withdraw(&app.context, caller.user, ticket).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The fan's own listings, and the tickets that are offered to them.
#[utoipa::path(get, path = "/api/users/me/resales", tag = "tickets",
    security(("accessToken" = [])),
    responses((status = 200, body = MyResales), (status = 401, body = Problem)))]
pub(crate) async fn my_resales(
    State(app): State<App>,
    Fan(caller): Fan,
) -> ApiResult<Json<MyResales>> {
    Ok(Json(resales::mine(&app.context, caller.user).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TakeResaleBody {
    /// The price that the fan saw.
    amount: Won,
}

/// Takes a ticket that is offered to the fan and pays for it from the wallet. The seat changes hands
/// and its first buyer is refunded in the same transaction.
#[utoipa::path(post, path = "/api/booking/resales/{id}/take", tag = "booking",
    security(("accessToken" = [])), request_body = TakeResaleBody,
    params(("id" = ResaleId, Path), ("Idempotency-Key" = String, Header)),
    responses((status = 200, body = Confirmed), (status = 400, body = Problem),
              (status = 401, body = Problem), (status = 402, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn take_resale(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(resale): Id<ResaleId>,
    headers: HeaderMap,
    body: Body<TakeResaleBody>,
) -> ApiResult<Response> {
    let content = [resale.uuid().as_bytes().as_slice(), &body.bytes].concat();
    let key = key_of(&headers, caller.user, RESALE, &content)?;
    once(resales::take(&app.context, key, caller.user, resale, body.value.amount).await?)
}
