//! The fan's tickets, their QR codes and letters.

use super::App;
use super::answer::once;
use super::error::{ApiError, ApiResult, Failure, Problem};
use super::extract::{AuditedAdmin, Body, Fan, Id, PageParams, Params, guarded, key_of, page};
use app::keys::{ACCEPT, TRANSFER};
use app::paging::Page;
use app::ports::messages::Letter;
use app::ports::tickets::{CheckedIn, OfferView, Offered, TicketView, Transferred};
use app::tickets;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::accounts::Email;
use domain::{ScheduleId, TicketId};
use qrcode::render::svg;
use qrcode::{EcLevel, QrCode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(my_tickets))
        .routes(routes!(my_ticket))
        .routes(routes!(qr))
        .routes(routes!(transfer, withdraw_transfer))
        .routes(routes!(offers))
        .routes(routes!(accept))
        .routes(guarded!(check_in))
        .routes(routes!(mailbox))
}

/// The fan's tickets, newest first.
#[utoipa::path(get, path = "/api/tickets", tag = "tickets", security(("accessToken" = [])),
    params(PageParams),
    responses((status = 200, body = Page<TicketView>), (status = 401, body = Problem)))]
pub(super) async fn my_tickets(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<PageParams>,
) -> ApiResult<Json<Page<TicketView>>> {
    let page = page(params.limit, params.cursor)?;
    Ok(Json(tickets::my_tickets(&app.platform, caller.user, page).await?))
}

/// One ticket of the fan.
#[utoipa::path(get, path = "/api/tickets/{id}", tag = "tickets", security(("accessToken" = [])),
    params(("id" = TicketId, Path)),
    responses((status = 200, body = TicketView), (status = 401, body = Problem),
              (status = 404, body = Problem)))]
pub(super) async fn my_ticket(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(ticket): Id<TicketId>,
) -> ApiResult<Json<TicketView>> {
    Ok(Json(tickets::my_ticket(&app.platform, caller.user, ticket).await?))
}

/// The ticket's code for the gate, as a picture.
#[utoipa::path(get, path = "/api/tickets/{id}/qr.svg", tag = "tickets",
    security(("accessToken" = [])), params(("id" = TicketId, Path)),
    responses((status = 200, body = String, content_type = "image/svg+xml"),
              (status = 401, body = Problem), (status = 404, body = Problem)))]
pub(super) async fn qr(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(ticket): Id<TicketId>,
) -> ApiResult<Response> {
    let ticket = tickets::my_ticket(&app.platform, caller.user, ticket).await?;
    let picture = qr_picture(&tickets::qr_text(&app.platform, &ticket))?;
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], picture).into_response())
}

pub(super) fn qr_picture(text: &str) -> ApiResult<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M)
        .map_err(|error| ApiError::from(Failure::Broken(error.to_string())))?;
    Ok(code.render::<svg::Color<'_>>().min_dimensions(240, 240).build())
}

#[derive(Serialize, ToSchema)]
pub(super) struct Mailbox {
    items: Vec<Letter>,
}

/// Letters that Podo sent to the fan.
#[utoipa::path(get, path = "/api/users/me/mailbox", tag = "accounts",
    security(("accessToken" = [])),
    responses((status = 200, body = Mailbox), (status = 401, body = Problem)))]
pub(super) async fn mailbox(State(app): State<App>, Fan(caller): Fan) -> ApiResult<Json<Mailbox>> {
    Ok(Json(Mailbox { items: app.platform.store.mailbox(caller.user, 50).await? }))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TransferBody {
    /// The address of who is to get it.
    #[schema(value_type = String)]
    email: Email,
}

/// Offers a ticket to an address for a week, and says the same whether anybody has that address. The
/// ticket stays where it is until somebody who proved to have the address accepts it; another offer
/// takes the place of this one.
#[utoipa::path(post, path = "/api/tickets/{id}/transfer", tag = "tickets",
    security(("accessToken" = [])), request_body = TransferBody,
    params(("id" = TicketId, Path), ("Idempotency-Key" = String, Header)),
    responses((status = 202, body = Offered), (status = 400, body = Problem),
              (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn transfer(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(ticket): Id<TicketId>,
    headers: HeaderMap,
    body: Body<TransferBody>,
) -> ApiResult<Response> {
    // The path is part of what the key stands for.
    let content = [ticket.uuid().as_bytes().as_slice(), &body.bytes].concat();
    let key = key_of(&headers, caller.user, TRANSFER, &content)?;
    once(tickets::offer(&app.platform, key, caller.user, ticket, &body.value.email).await?)
}

/// Takes an offer back.
#[utoipa::path(delete, path = "/api/tickets/{id}/transfer", tag = "tickets",
    security(("accessToken" = [])), params(("id" = TicketId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 404, body = Problem)))]
pub(super) async fn withdraw_transfer(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(ticket): Id<TicketId>,
) -> ApiResult<StatusCode> {
    tickets::withdraw_offer(&app.platform, caller.user, ticket).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Serialize, ToSchema)]
pub(super) struct Offers {
    items: Vec<OfferView>,
}

/// Tickets that others offer to the address that the fan proved to have.
#[utoipa::path(get, path = "/api/users/me/offers", tag = "tickets",
    security(("accessToken" = [])),
    responses((status = 200, body = Offers), (status = 401, body = Problem)))]
pub(super) async fn offers(State(app): State<App>, Fan(caller): Fan) -> ApiResult<Json<Offers>> {
    Ok(Json(Offers { items: tickets::offers(&app.platform, caller.user).await? }))
}

/// Nothing has to be said.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AcceptBody {}

/// Accepts a ticket that is offered to the fan's address. Its code changes, and who bought it cannot
/// cancel it after that.
#[utoipa::path(post, path = "/api/tickets/{id}/accept", tag = "tickets",
    security(("accessToken" = [])), request_body = AcceptBody,
    params(("id" = TicketId, Path), ("Idempotency-Key" = String, Header)),
    responses((status = 200, body = Transferred), (status = 400, body = Problem),
              (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn accept(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(ticket): Id<TicketId>,
    headers: HeaderMap,
    body: Body<AcceptBody>,
) -> ApiResult<Response> {
    let AcceptBody {} = body.value;
    let key = key_of(&headers, caller.user, ACCEPT, ticket.uuid().as_bytes())?;
    once(tickets::accept(&app.platform, key, caller.user, ticket).await?)
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CheckInBody {
    /// What the QR code says.
    code: String,
    /// The date that this gate lets in; any when left out.
    #[serde(default)]
    schedule_id: Option<ScheduleId>,
}

/// Lets the owner of a ticket in, once.
#[utoipa::path(post, path = "/api/admin/checkin", tag = "admin", security(("accessToken" = [])),
    request_body = CheckInBody,
    responses((status = 200, body = CheckedIn), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn check_in(
    State(app): State<App>,
    AuditedAdmin(actor): AuditedAdmin,
    body: Body<CheckInBody>,
) -> ApiResult<Json<CheckedIn>> {
    let CheckInBody { code, schedule_id } = body.value;
    Ok(Json(tickets::check_in(&app.platform, actor, &code, schedule_id).await?))
}
