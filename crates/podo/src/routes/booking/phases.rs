//! What a fan may buy when, and how they prove it before a phase opens.

use crate::http::extract::{Body, Fan, Id, Params};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use podo_app::catalog::phases;
use podo_app::catalog::phases::members::{MemberIdentifier, MemberKey};
use podo_app::catalog::phases::{MyPhaseView, Proof};
use podo_domain::catalog::text::{FieldError, Line};
use podo_domain::identity::{Email, Phone};
use podo_domain::{PhaseId, Refusal, ScheduleId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PhasesParams {
    #[param(value_type = String, format = Uuid)]
    schedule_id: ScheduleId,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MyPhases {
    /// In order; empty if the whole sale is for everybody.
    items: Vec<MyPhaseView>,
}

/// The sale phases of a date: whether the fan may buy in each, and what is missing.
#[utoipa::path(get, path = "/api/booking/phases", tag = "booking",
    security(("accessToken" = [])), params(PhasesParams),
    responses((status = 200, body = MyPhases), (status = 401, body = Problem),
              (status = 404, body = Problem)))]
pub(crate) async fn my_phases(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<PhasesParams>,
) -> ApiResult<Json<MyPhases>> {
    let items = phases::my_phases(&app.context, caller.user, params.schedule_id).await?;
    Ok(Json(MyPhases { items }))
}

/// A code, or the name with one of the others. A phase for verified identities needs neither, nor
/// does a member list that has the fan's verified identity.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct VerifyPhaseBody {
    #[serde(default)]
    #[schema(value_type = Option<String>, max_length = 100)]
    code: Option<Line<100>>,
    #[serde(default)]
    #[schema(value_type = Option<String>, max_length = 200)]
    name: Option<Line<200>>,
    #[serde(default)]
    #[schema(value_type = Option<String>, max_length = 100)]
    membership_number: Option<Line<100>>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    email: Option<Email>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    phone: Option<Phone>,
}

impl VerifyPhaseBody {
    fn proof(self) -> Result<Proof, Refusal> {
        let missing = |field| Refusal::Invalid { field, problem: FieldError::Blank };
        let number = self.membership_number.map(MemberIdentifier::Number);
        let email = self.email.map(MemberIdentifier::Email);
        let id = number.or(email).or(self.phone.map(MemberIdentifier::Phone));
        match (self.code, id, self.name) {
            (Some(code), None, None) => Ok(Proof::Code(code.into())),
            (None, Some(id), Some(name)) => Ok(Proof::Member(MemberKey { id, name })),
            (None, None, None) => Ok(Proof::Identity),
            (None, Some(_), None) => Err(missing("name")),
            (None, None, Some(_)) => Err(missing("membershipNumber")),
            (Some(_), _, _) => Err(Refusal::WrongPhaseProof { field: "code" }),
        }
    }
}

/// Proves, once and before the phase opens, that the fan belongs to its audience. Repeating it
/// changes nothing. If the organiser's server decides who is a member and doesn't answer in time, the
/// response is 503 `MEMBERSHIP_UNANSWERED`: try again after `Retry-After` seconds.
#[utoipa::path(post, path = "/api/booking/phases/{id}/verify", tag = "booking",
    security(("accessToken" = [])), params(("id" = PhaseId, Path)),
    request_body = VerifyPhaseBody,
    responses((status = 200, body = MyPhaseView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem),
              (status = 429, body = Problem), (status = 503, body = Problem)))]
pub(crate) async fn verify_phase(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(phase): Id<PhaseId>,
    body: Body<VerifyPhaseBody>,
) -> ApiResult<Json<MyPhaseView>> {
    let proof = body.value.proof()?;
    Ok(Json(phases::verify(&app.context, caller.user, phase, proof).await?))
}
