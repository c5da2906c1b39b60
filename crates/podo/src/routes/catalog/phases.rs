//! How organisers divide a sale into phases, and for whom.

use crate::http::extract::permissions::{ManageEvents, ViewEvents};
use crate::http::extract::scope::{OfPhase, OfSchedule};
use crate::http::extract::{Allowed, Audited, Body, Id, LargeBody, Upload, guarded};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use podo_app::catalog::phases;
use podo_app::catalog::phases::draws;
use podo_app::catalog::phases::draws::AdminDrawView;
use podo_app::catalog::phases::members::MemberImport;
use podo_app::catalog::phases::port::ImportView;
use podo_app::catalog::phases::{AdminPhaseView, CodesView, NewCodes};
use podo_domain::booking::draws::DrawTerms;
use podo_domain::catalog::SaleWindow;
use podo_domain::catalog::phases::{Inventory, PhaseAudience, PhaseInput, PhaseTerms};
use podo_domain::catalog::text::{FieldError, Line};
use podo_domain::{PhaseId, Refusal, ScheduleId, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(guarded!(show_phases))
        .routes(guarded!(set_phases))
        .routes(guarded!(create_codes))
        .routes(guarded!(import_members))
        .routes(guarded!(set_phase_draw))
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AdminPhases {
    /// In order; empty if the whole sale is for everybody.
    items: Vec<AdminPhaseView>,
}

/// The sale phases of a date, with their codes, members and verified fans.
#[utoipa::path(get, path = "/api/admin/schedules/{id}/phases", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    responses((status = 200, body = AdminPhases), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn show_phases(
    State(app): State<App>,
    _: Allowed<ViewEvents, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Json<AdminPhases>> {
    Ok(Json(AdminPhases { items: phases::show_phases(&app.context, schedule).await? }))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PhaseBody {
    /// Of an existing phase; absent for a new one.
    #[serde(default)]
    id: Option<PhaseId>,
    #[schema(value_type = String, max_length = 60)]
    name: Line<60>,
    #[schema(value_type = String, max_length = 60)]
    name_en: Line<60>,
    starts_at: Timestamp,
    ends_at: Timestamp,
    audience: PhaseAudience,
    #[schema(minimum = 1, maximum = 50)]
    seats_per_person: u32,
    /// Most seats in one order; as the date if absent.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 10)]
    seats_per_order: Option<u32>,
    /// The grades that it sells; absent for all.
    #[serde(default)]
    grades: Option<BTreeSet<String>>,
    /// The sections that it sells; absent for all.
    #[serde(default)]
    sections: Option<BTreeSet<String>>,
}

impl From<PhaseBody> for PhaseInput {
    fn from(body: PhaseBody) -> PhaseInput {
        PhaseInput {
            id: body.id,
            terms: PhaseTerms {
                name: body.name.into(),
                name_en: body.name_en.into(),
                window: SaleWindow { starts_at: body.starts_at, ends_at: body.ends_at },
                audience: body.audience,
                seats_per_person: body.seats_per_person,
                seats_per_order: body.seats_per_order,
                inventory: Inventory { grades: body.grades, sections: body.sections },
            },
        }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PhasesBody {
    #[schema(max_items = 20)]
    phases: Vec<PhaseBody>,
}

/// Replaces the sale phases of a date. They lie inside its sale and don't overlap; each has its own
/// waiting room. A phase that has begun keeps its audience, seats and start.
#[utoipa::path(put, path = "/api/admin/schedules/{id}/phases", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    request_body = PhasesBody,
    responses((status = 200, body = AdminPhases), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn set_phases(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
    body: Body<PhasesBody>,
) -> ApiResult<Json<AdminPhases>> {
    let asked = body.value.phases.into_iter().map(PhaseInput::from).collect();
    let items = phases::set_phases(&app.context, actor, schedule, asked).await?;
    Ok(Json(AdminPhases { items }))
}

/// Either `codes` or `count`.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CodesBody {
    /// The organiser's own codes: 4 to 64 letters and digits. Case, spaces and dashes don't matter.
    #[serde(default)]
    #[schema(max_items = 10_000)]
    codes: Option<Vec<String>>,
    /// How many codes to generate.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 10_000)]
    count: Option<usize>,
    /// How many fans may use each code; 1 by default.
    #[serde(default = "once")]
    #[schema(minimum = 1, maximum = 1_000_000)]
    uses_max: u32,
}

const fn once() -> u32 {
    1
}

/// Adds codes to a phase. Only keyed hashes are stored: generated codes are in this response and
/// can't be shown again.
#[utoipa::path(post, path = "/api/admin/phases/{id}/codes", operation_id = "create_phase_codes",
    tag = "admin", security(("accessToken" = [])), params(("id" = PhaseId, Path)),
    request_body = CodesBody,
    responses((status = 201, body = CodesView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn create_codes(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfPhase>,
    Id(phase): Id<PhaseId>,
    LargeBody(body): LargeBody<CodesBody>,
) -> ApiResult<(StatusCode, Json<CodesView>)> {
    let wanted = match (body.codes, body.count) {
        (Some(codes), None) => NewCodes::Given(codes),
        (None, Some(count)) => NewCodes::Generated(count),
        (Some(_), Some(_)) | (None, None) => {
            return Err(Refusal::Invalid { field: "codes", problem: FieldError::Blank }.into());
        }
    };
    let made = phases::create_codes(&app.context, actor, phase, wanted, body.uses_max).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// Adds a member list to a phase: a CSV file of up to a million lines, whose first line names the
/// columns `name` and at least one of `email`, `phone` and `membershipNumber`, or `ciHash`: SHA-256
/// of the CI in hex, which needs no name and makes fans with that verified identity eligible. It is
/// read as it arrives and stored only as keyed hashes; `GET …/phases` shows the progress. Wrong lines are left
/// out and reported.
#[utoipa::path(post, path = "/api/admin/phases/{id}/members",
    operation_id = "import_phase_members", tag = "admin",
    security(("accessToken" = [])), params(("id" = PhaseId, Path)),
    request_body(content = String, content_type = "text/csv"),
    responses((status = 200, body = ImportView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 408, body = Problem), (status = 413, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn import_members(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfPhase>,
    Id(phase): Id<PhaseId>,
    mut upload: Upload,
) -> ApiResult<Json<ImportView>> {
    let mut import = MemberImport::start(&app.context, actor, phase).await?;
    while let Some(bytes) = upload.next().await? {
        import.feed(&bytes).await?;
    }
    Ok(Json(import.finish().await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DrawBody {
    apply_from: Timestamp,
    /// The draw follows at once; not after the phase begins.
    apply_until: Timestamp,
    /// Most seats of one application.
    #[schema(minimum = 1, maximum = 10)]
    seats_max: u32,
    /// How long a winner may take to pay.
    #[schema(minimum = 10, maximum = 10_080)]
    offer_minutes: u32,
    /// Seats to give away, by grade.
    quantities: BTreeMap<String, u32>,
}

/// Sets up the draw of a phase whose audience is `DRAWN`. Fans apply before the phase; while it
/// runs, winners get offers in the drawn order. From the beginning of its window a draw may only
/// become longer and its quantities greater.
#[utoipa::path(put, path = "/api/admin/phases/{id}/draw", tag = "admin",
    security(("accessToken" = [])), params(("id" = PhaseId, Path)), request_body = DrawBody,
    responses((status = 200, body = AdminDrawView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn set_phase_draw(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfPhase>,
    Id(phase): Id<PhaseId>,
    body: Body<DrawBody>,
) -> ApiResult<Json<AdminDrawView>> {
    let DrawBody { apply_from, apply_until, seats_max, offer_minutes, quantities } = body.value;
    let terms = DrawTerms { apply_from, apply_until, seats_max, offer_minutes, quantities };
    Ok(Json(draws::set_draw(&app.context, actor, phase, terms).await?))
}
