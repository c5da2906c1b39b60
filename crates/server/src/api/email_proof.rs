//! Showing that the address of one's account is one's own.

use super::App;
use super::error::{ApiResult, Problem};
use super::extract::{Body, Fan};
use super::language::Language;
use app::accounts;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use domain::text::Line;
use domain::{Timestamp, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(ask)).routes(routes!(confirm))
}

/// A letter with a code is on its way.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct EmailProof {
    proof_id: UserId,
    /// Until when the code counts.
    expires_at: Timestamp,
}

/// Mails a code to the address of one's account. Accounts that were made with such a code, or by a
/// service that vouches for the address, need none.
#[utoipa::path(post, path = "/api/users/me/email/proof", tag = "accounts",
    security(("accessToken" = [])),
    responses((status = 202, body = EmailProof), (status = 401, body = Problem),
              (status = 404, body = Problem), (status = 429, body = Problem)))]
pub(super) async fn ask(
    State(app): State<App>,
    Fan(caller): Fan,
    headers: HeaderMap,
) -> ApiResult<(StatusCode, Json<EmailProof>)> {
    let language = Language::of(&headers).of_letters();
    let asked = accounts::ask_email_proof(&app.platform, caller, language).await?;
    let proof = EmailProof { proof_id: asked.proof, expires_at: asked.expires_at };
    Ok((StatusCode::ACCEPTED, Json(proof)))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct EmailProofBody {
    proof_id: UserId,
    /// Six digits of the letter.
    code: Line<6>,
}

/// Shows the code of the letter. After five wrong ones a new letter is needed.
#[utoipa::path(post, path = "/api/users/me/email/proof/confirm", tag = "accounts",
    security(("accessToken" = [])), request_body = EmailProofBody,
    responses((status = 204), (status = 401, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn confirm(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<EmailProofBody>,
) -> ApiResult<StatusCode> {
    let EmailProofBody { proof_id, code } = body.value;
    accounts::prove_email(&app.platform, caller, proof_id, code.as_str()).await?;
    Ok(StatusCode::NO_CONTENT)
}
