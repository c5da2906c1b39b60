//! Proving the ownership of an account's e-mail address.

use crate::http::extract::{Body, Fan};
use crate::http::language::Language;
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use podo_app::identity::accounts;
use podo_domain::catalog::text::Line;
use podo_domain::{Timestamp, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(ask)).routes(routes!(confirm))
}

/// An e-mail with a code has been sent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EmailProof {
    proof_id: UserId,
    /// When the code expires.
    expires_at: Timestamp,
}

/// Sends a code to the account's e-mail address. Accounts created with such a code, or by a
/// provider that vouches for the address, need none.
#[utoipa::path(post, path = "/api/users/me/email/proof", tag = "accounts",
    security(("accessToken" = [])),
    responses((status = 202, body = EmailProof), (status = 401, body = Problem),
              (status = 404, body = Problem), (status = 429, body = Problem)))]
pub(crate) async fn ask(
    State(app): State<App>,
    Fan(caller): Fan,
    headers: HeaderMap,
) -> ApiResult<(StatusCode, Json<EmailProof>)> {
    let language = Language::of(&headers).of_notifications();
    let asked = accounts::ask_email_proof(&app.context, caller, language).await?;
    let proof = EmailProof { proof_id: asked.proof, expires_at: asked.expires_at };
    Ok((StatusCode::ACCEPTED, Json(proof)))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EmailProofBody {
    proof_id: UserId,
    /// The six digits from the e-mail.
    code: Line<6>,
}

/// Submits the code from the e-mail. Five wrong codes invalidate it.
#[utoipa::path(post, path = "/api/users/me/email/proof/confirm", tag = "accounts",
    security(("accessToken" = [])), request_body = EmailProofBody,
    responses((status = 204), (status = 401, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn confirm(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<EmailProofBody>,
) -> ApiResult<StatusCode> {
    let EmailProofBody { proof_id, code } = body.value;
    accounts::prove_email(&app.context, caller, proof_id, code.as_str()).await?;
    Ok(StatusCode::NO_CONTENT)
}
