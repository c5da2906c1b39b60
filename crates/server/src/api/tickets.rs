//! The fan's tickets, their QR codes and letters.

use super::App;
use super::error::{ApiError, ApiResult, Failure, Problem};
use super::extract::{Fan, Id, PageParams, Params, page};
use app::paging::Page;
use app::ports::messages::Letter;
use app::ports::tickets::TicketView;
use app::tickets;
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use domain::TicketId;
use qrcode::render::svg;
use qrcode::{EcLevel, QrCode};
use serde::Serialize;
use utoipa::ToSchema;

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
    let text = tickets::qr_text(&app.platform, &ticket);
    let code = QrCode::with_error_correction_level(text, EcLevel::M)
        .map_err(|error| ApiError::from(Failure::Broken(error.to_string())))?;
    let picture = code.render::<svg::Color<'_>>().min_dimensions(240, 240).build();
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], picture).into_response())
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
