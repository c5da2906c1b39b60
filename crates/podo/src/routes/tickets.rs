//! The fan's tickets with their QR codes, and the mailbox.

mod attendance;
mod claims;
mod gate;
mod passes;
mod resales;

use crate::http::extract::{Body, Fan, Id, PageParams, Params, key_of, page};
use crate::http::language::Language;
use crate::http::problem::{ApiError, ApiResult, Failure, Problem};
use crate::http::respond::idempotent::once;
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use podo_app::messaging::port::messages::Notification;
use podo_app::operations::idempotency::{ACCEPT, TRANSFER};
use podo_app::store::Page;
use podo_app::tickets::documents;
use podo_app::tickets::documents::PageSize;
use podo_app::tickets::holders;
use podo_app::tickets::holders::Recipient;
use podo_app::tickets::port::{OfferView, Offered, TicketView, Transferred};
use podo_domain::TicketId;
use podo_domain::identity::Email;
use qrcode::render::svg;
use qrcode::{EcLevel, QrCode};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(my_tickets))
        .routes(routes!(my_ticket))
        .routes(routes!(qr))
        .routes(routes!(ticket_pdf))
        .routes(routes!(ticket_calendar))
        .routes(routes!(transfer, withdraw_transfer))
        .routes(routes!(offers))
        .routes(routes!(accept))
        .routes(routes!(mailbox))
        .merge(claims::routes())
        .merge(gate::routes())
        .merge(passes::routes())
        .merge(resales::routes())
        .merge(attendance::routes())
}

/// The fan's tickets, newest first.
#[utoipa::path(get, path = "/api/tickets", tag = "tickets", security(("accessToken" = [])),
    params(PageParams),
    responses((status = 200, body = Page<TicketView>), (status = 401, body = Problem)))]
pub(crate) async fn my_tickets(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<PageParams>,
) -> ApiResult<Json<Page<TicketView>>> {
    let page = page(params.limit, params.cursor)?;
    Ok(Json(holders::my_tickets(&app.context, caller.user, page).await?))
}

/// One of the fan's tickets.
#[utoipa::path(get, path = "/api/tickets/{id}", tag = "tickets", security(("accessToken" = [])),
    params(("id" = TicketId, Path)),
    responses((status = 200, body = TicketView), (status = 401, body = Problem),
              (status = 404, body = Problem)))]
pub(crate) async fn my_ticket(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(ticket): Id<TicketId>,
) -> ApiResult<Json<TicketView>> {
    Ok(Json(holders::my_ticket(&app.context, caller.user, ticket).await?))
}

/// The ticket's QR code for the gate, as an image. If codes rotate, the header `Code-Changes-At`
/// says until when it is valid.
#[utoipa::path(get, path = "/api/tickets/{id}/qr.svg", tag = "tickets",
    security(("accessToken" = [])), params(("id" = TicketId, Path)),
    responses((status = 200, body = String, content_type = "image/svg+xml"),
              (status = 401, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn qr(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(ticket): Id<TicketId>,
) -> ApiResult<Response> {
    let ticket = holders::my_ticket(&app.context, caller.user, ticket).await?;
    let picture = qr_picture(&holders::qr_text(&app.context, &ticket))?;
    let mut response = ([(header::CONTENT_TYPE, "image/svg+xml")], picture).into_response();
    // A page keeps only a picture that stays valid.
    let changes_at = holders::qr_changes_at(&app.context).map(|at| at.to_string());
    if let Some(at) = changes_at.and_then(|at| HeaderValue::try_from(at).ok()) {
        response.headers_mut().insert("code-changes-at", at);
    }
    Ok(response)
}

pub(crate) fn qr_picture(text: &str) -> ApiResult<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M)
        .map_err(|error| ApiError::from(Failure::Broken(error.to_string())))?;
    Ok(code.render::<svg::Color<'_>>().min_dimensions(240, 240).build())
}

/// The page of a printed ticket.
#[derive(Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TicketPageSize {
    #[default]
    A4,
    Mobile,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct TicketPdfParams {
    /// A4 by default.
    #[serde(default)]
    #[param(inline)]
    size: TicketPageSize,
}

impl TicketPdfParams {
    pub(crate) fn size(&self) -> PageSize {
        match self.size {
            TicketPageSize::A4 => PageSize::A4,
            TicketPageSize::Mobile => PageSize::Mobile,
        }
    }
}

/// The ticket on paper. If codes rotate, the page has none and says so.
#[utoipa::path(get, path = "/api/tickets/{id}/pdf", tag = "tickets",
    security(("accessToken" = [])), params(("id" = TicketId, Path), TicketPdfParams),
    responses((status = 200, body = Vec<u8>, content_type = "application/pdf"),
              (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn ticket_pdf(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(ticket): Id<TicketId>,
    Params(params): Params<TicketPdfParams>,
) -> ApiResult<Response> {
    let pdf = documents::ticket_pdf(&app.context, caller.user, ticket, params.size()).await?;
    Ok(file("application/pdf", &format!("{ticket}.pdf"), pdf))
}

/// The show as a calendar file, with its end and its venue.
#[utoipa::path(get, path = "/api/tickets/{id}/calendar.ics", tag = "tickets",
    security(("accessToken" = [])), params(("id" = TicketId, Path)),
    responses((status = 200, body = String, content_type = "text/calendar"),
              (status = 401, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn ticket_calendar(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(ticket): Id<TicketId>,
) -> ApiResult<Response> {
    let text = documents::ticket_calendar(&app.context, caller.user, ticket).await?;
    Ok(file("text/calendar; charset=utf-8", &format!("{ticket}.ics"), text.into_bytes()))
}

/// A personal file: browsers save it, caches don't.
pub(crate) fn file(kind: &'static str, name: &str, bytes: Vec<u8>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
        (header::CACHE_CONTROL, "private, no-store".to_owned()),
    ];
    (headers, bytes).into_response()
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Mailbox {
    items: Vec<Notification>,
}

/// Notifications sent to the fan.
#[utoipa::path(get, path = "/api/users/me/mailbox", tag = "accounts",
    security(("accessToken" = [])),
    responses((status = 200, body = Mailbox), (status = 401, body = Problem)))]
pub(crate) async fn mailbox(State(app): State<App>, Fan(caller): Fan) -> ApiResult<Json<Mailbox>> {
    Ok(Json(Mailbox { items: app.context.store.mailbox(caller.user, 50).await? }))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TransferBody {
    /// The recipient's e-mail address.
    #[schema(value_type = String)]
    email: Email,
}

/// Offers a ticket to an e-mail address for a week. The response doesn't reveal whether the address
/// has an account; without a verified one it gets a link to claim the ticket. The ticket stays with
/// its owner until an account with that verified address accepts it; a new offer replaces this
/// one.
#[utoipa::path(post, path = "/api/tickets/{id}/transfer", tag = "tickets",
    security(("accessToken" = [])), request_body = TransferBody,
    params(("id" = TicketId, Path), ("Idempotency-Key" = String, Header)),
    responses((status = 202, body = Offered), (status = 400, body = Problem),
              (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem),
              (status = 429, body = Problem)))]
pub(crate) async fn transfer(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(ticket): Id<TicketId>,
    headers: HeaderMap,
    body: Body<TransferBody>,
) -> ApiResult<Response> {
    // The idempotency key covers the path too.
    let content = [ticket.uuid().as_bytes().as_slice(), &body.bytes].concat();
    let key = key_of(&headers, caller.user, TRANSFER, &content)?;
    let language = Language::of(&headers).of_notifications();
    let to = Recipient { email: &body.value.email, language };
    once(holders::offer(&app.context, key, caller.user, ticket, to).await?)
}

/// Withdraws an offer.
#[utoipa::path(delete, path = "/api/tickets/{id}/transfer", tag = "tickets",
    security(("accessToken" = [])), params(("id" = TicketId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn withdraw_transfer(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(ticket): Id<TicketId>,
) -> ApiResult<StatusCode> {
    holders::withdraw_offer(&app.context, caller.user, ticket).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Offers {
    items: Vec<OfferView>,
}

/// Tickets offered to the fan's verified e-mail address.
#[utoipa::path(get, path = "/api/users/me/offers", tag = "tickets",
    security(("accessToken" = [])),
    responses((status = 200, body = Offers), (status = 401, body = Problem)))]
pub(crate) async fn offers(State(app): State<App>, Fan(caller): Fan) -> ApiResult<Json<Offers>> {
    Ok(Json(Offers { items: holders::offers(&app.context, caller.user).await? }))
}

/// Empty.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AcceptBody {}

/// Accepts a ticket offered to the fan's address. Its code changes, and the buyer can no longer
/// cancel it.
#[utoipa::path(post, path = "/api/tickets/{id}/accept", tag = "tickets",
    security(("accessToken" = [])), request_body = AcceptBody,
    params(("id" = TicketId, Path), ("Idempotency-Key" = String, Header)),
    responses((status = 200, body = Transferred), (status = 400, body = Problem),
              (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn accept(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(ticket): Id<TicketId>,
    headers: HeaderMap,
    body: Body<AcceptBody>,
) -> ApiResult<Response> {
    let AcceptBody {} = body.value;
    let key = key_of(&headers, caller.user, ACCEPT, ticket.uuid().as_bytes())?;
    once(holders::accept(&app.context, key, caller.user, ticket).await?)
}
