//! Claim links: a ticket for an address without an account. The token comes in the body of a POST,
//! so it's in no log and no `Referer`.

use crate::http::extract::{Body, CameFrom, Fan, key_of};
use crate::http::problem::{ApiResult, Problem};
use crate::http::respond::idempotent::once;
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use podo_app::operations::idempotency::CLAIM;
use podo_app::tickets::claims;
use podo_app::tickets::claims::{ClaimSignUp, TicketClaim};
use podo_app::tickets::port::Transferred;
use podo_domain::UserId;
use podo_domain::catalog::text::Line;
use podo_domain::identity::NewPassword;
use podo_domain::identity::consents::Consents;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(show_claim))
        .routes(routes!(sign_up_to_claim))
        .routes(routes!(claim_ticket))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimToken {
    /// From the link in the e-mail.
    token: Line<100>,
}

/// Shows which ticket a link is for.
#[utoipa::path(post, path = "/api/tickets/claim", tag = "tickets", request_body = ClaimToken,
    responses((status = 200, body = TicketClaim), (status = 404, body = Problem),
              (status = 422, body = Problem), (status = 429, body = Problem)))]
pub(crate) async fn show_claim(
    State(app): State<App>,
    CameFrom(origin): CameFrom,
    body: Body<ClaimToken>,
) -> ApiResult<Json<TicketClaim>> {
    Ok(Json(claims::show(&app.context, body.value.token.as_str(), &origin).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimSignUpBody {
    /// From the link in the e-mail.
    token: Line<100>,
    name: Line<50>,
    password: NewPassword,
    /// Required once the organiser has published terms or a privacy policy.
    #[serde(default)]
    consents: Consents,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClaimSignedUp {
    user_id: UserId,
}

/// Creates an account with the address that the link was sent to. The link proves the address; the
/// ticket is claimed after the log-in.
#[utoipa::path(post, path = "/api/tickets/claim/signup", tag = "tickets",
    request_body = ClaimSignUpBody,
    responses((status = 201, body = ClaimSignedUp), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem),
              (status = 429, body = Problem)))]
pub(crate) async fn sign_up_to_claim(
    State(app): State<App>,
    CameFrom(origin): CameFrom,
    body: Body<ClaimSignUpBody>,
) -> ApiResult<(StatusCode, Json<ClaimSignedUp>)> {
    let ClaimSignUpBody { token, name, password, consents } = body.value;
    let asked = ClaimSignUp { name, password, consents };
    let user_id = claims::sign_up(&app.context, token.as_str(), asked, &origin).await?;
    Ok((StatusCode::CREATED, Json(ClaimSignedUp { user_id })))
}

/// Claims the ticket for the caller's account, which must have the address that the link was sent
/// to. The link works once, and the ticket gets a new code.
#[utoipa::path(post, path = "/api/tickets/claim/accept", tag = "tickets",
    security(("accessToken" = [])), request_body = ClaimToken,
    params(("Idempotency-Key" = String, Header)),
    responses((status = 200, body = Transferred), (status = 400, body = Problem),
              (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem), (status = 429, body = Problem)))]
pub(crate) async fn claim_ticket(
    State(app): State<App>,
    Fan(caller): Fan,
    CameFrom(origin): CameFrom,
    headers: HeaderMap,
    body: Body<ClaimToken>,
) -> ApiResult<Response> {
    let key = key_of(&headers, caller.user, CLAIM, &body.bytes)?;
    let token = body.value.token.as_str();
    once(claims::claim(&app.context, key, caller, token, &origin).await?)
}
