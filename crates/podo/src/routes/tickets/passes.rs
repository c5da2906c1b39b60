//! Tickets for the wallets of phones.

use crate::http::extract::{Fan, Id};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use crate::routes::tickets::file;
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use podo_app::tickets::passes;
use podo_app::tickets::passes::Wallets;
use podo_domain::TicketId;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(wallets))
        .routes(routes!(apple_pass))
        .routes(routes!(google_pass))
}

/// The wallets that tickets can be put into.
#[utoipa::path(get, path = "/api/tickets/wallets", tag = "tickets",
    security(("accessToken" = [])),
    responses((status = 200, body = Wallets), (status = 401, body = Problem)))]
pub(crate) async fn wallets(State(app): State<App>, Fan(_caller): Fan) -> Json<Wallets> {
    Json(passes::wallets(&app.context))
}

/// The ticket as a pass for Apple Wallet, signed with the organiser's certificate. 409 `PASS_OFF` if
/// there is none, or codes rotate.
#[utoipa::path(get, path = "/api/tickets/{id}/wallet/apple", tag = "tickets",
    security(("accessToken" = [])), params(("id" = TicketId, Path)),
    responses((status = 200, body = Vec<u8>, content_type = "application/vnd.apple.pkpass"),
              (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 503, body = Problem)))]
pub(crate) async fn apple_pass(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(ticket): Id<TicketId>,
) -> ApiResult<Response> {
    let pass = passes::apple_pass(&app.context, caller.user, ticket).await?;
    Ok(file("application/vnd.apple.pkpass", &format!("{ticket}.pkpass"), pass))
}

#[derive(Serialize, ToSchema)]
pub(crate) struct GooglePassLink {
    /// Puts the pass into the wallet of the phone that opens it.
    url: String,
}

/// A link that puts the ticket into Google Wallet, signed with the organiser's service account. 409
/// `PASS_OFF` if there is none, or codes rotate.
#[utoipa::path(get, path = "/api/tickets/{id}/wallet/google", tag = "tickets",
    security(("accessToken" = [])), params(("id" = TicketId, Path)),
    responses((status = 200, body = GooglePassLink), (status = 401, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem),
              (status = 503, body = Problem)))]
pub(crate) async fn google_pass(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(ticket): Id<TicketId>,
) -> ApiResult<Response> {
    let url = passes::google_pass(&app.context, caller.user, ticket).await?;
    let headers = [(header::CACHE_CONTROL, "private, no-store")];
    Ok((headers, Json(GooglePassLink { url })).into_response())
}
