//! The gate: check-in, undo, and what a device needs to work without a network.

use crate::http::extract::permissions::{CheckInTickets, ManageVenues, ViewEvents};
use crate::http::extract::scope::{OfSchedule, OwnEvents};
use crate::http::extract::{
    Allowed, Audited, AuditedStart, Body, Continues, Id, guarded, limit_within,
};
use crate::http::problem::{ApiResult, Failure, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use podo_app::tickets::gate;
use podo_app::tickets::gate::{
    CheckedIn, GateList, GateListRequest, GateName, LINES_MAX, Scan, UndoRequest,
};
use podo_app::tickets::gate_port::{GateShow, OfflineScan, OfflineUndo, ScanResult};
use podo_domain::catalog::text::Line;
use podo_domain::tickets::gate::Gate;
use podo_domain::{HallId, ScheduleId, TicketId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use uuid::Uuid;

/// Scans in one call.
const SCANS_MAX: usize = 200;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(guarded!(check_in))
        .routes(guarded!(undo_check_in))
        .routes(guarded!(gate_shows))
        .routes(guarded!(gates))
        .routes(guarded!(hall_gates))
        .routes(guarded!(set_gates))
        .routes(guarded!(gate_list))
        .routes(guarded!(sync_scans))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CheckInBody {
    /// The content of the QR code.
    code: String,
    /// The date that this gate admits.
    schedule_id: ScheduleId,
    /// The name of the gate.
    #[schema(value_type = String, min_length = 1, max_length = 40)]
    gate: GateName,
    /// Chosen by the device; a repeat with the same id has no further effect, here and among late
    /// scans.
    #[serde(default)]
    id: Option<Uuid>,
}

/// Checks in a ticket, once. The refusal names the reason: another date, another gate, used (when
/// and where), or canceled.
#[utoipa::path(post, path = "/api/admin/checkin", tag = "admin", security(("accessToken" = [])),
    request_body = CheckInBody,
    responses((status = 200, body = CheckedIn), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn check_in(
    State(app): State<App>,
    Audited { actor, grant, .. }: Audited<CheckInTickets, OwnEvents>,
    body: Body<CheckInBody>,
) -> ApiResult<Json<CheckedIn>> {
    let CheckInBody { code, schedule_id: schedule, gate, id } = body.value;
    let scan = Scan { actor, events: grant.events, schedule, gate, code, id };
    Ok(Json(gate::check_in(&app.context, scan).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct UndoBody {
    schedule_id: ScheduleId,
    ticket_id: TicketId,
    #[schema(value_type = String, min_length = 1, max_length = 40)]
    gate: GateName,
    /// Recorded in the audit log.
    #[schema(value_type = String, min_length = 1, max_length = 200)]
    reason: Line<200>,
}

/// Makes a used ticket valid again, for a guest who was scanned by mistake.
#[utoipa::path(post, path = "/api/admin/checkin/undo", tag = "admin",
    security(("accessToken" = [])), request_body = UndoBody,
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn undo_check_in(
    State(app): State<App>,
    Audited { actor, grant, .. }: Audited<CheckInTickets, OwnEvents>,
    body: Body<UndoBody>,
) -> ApiResult<StatusCode> {
    let UndoBody { schedule_id: schedule, ticket_id: ticket, gate, reason } = body.value;
    let asked = UndoRequest { actor, events: grant.events, schedule, ticket, gate, reason };
    gate::undo(&app.context, asked).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Serialize, ToSchema)]
pub(crate) struct GateShows {
    items: Vec<GateShow>,
}

/// The dates that a gate may admit: from half a day ago to a day and a half ahead.
#[utoipa::path(get, path = "/api/admin/gate/shows", tag = "admin",
    security(("accessToken" = [])),
    responses((status = 200, body = GateShows), (status = 401, body = Problem),
              (status = 403, body = Problem)))]
pub(crate) async fn gate_shows(
    State(app): State<App>,
    Allowed { grant, .. }: Allowed<CheckInTickets, OwnEvents>,
) -> ApiResult<Json<GateShows>> {
    Ok(Json(GateShows { items: gate::shows_near(&app.context, &grant.events).await? }))
}

#[derive(Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GatesBody {
    #[schema(max_items = 50)]
    gates: Vec<Gate>,
}

/// The gates of a date's hall.
#[utoipa::path(get, path = "/api/admin/schedules/{id}/gates", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    responses((status = 200, body = GatesBody), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn gates(
    State(app): State<App>,
    _: Allowed<CheckInTickets, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Json<GatesBody>> {
    Ok(Json(GatesBody { gates: gate::gates_of(&app.context, schedule).await? }))
}

/// The gates of a hall.
#[utoipa::path(get, path = "/api/admin/halls/{id}/gates", tag = "admin",
    security(("accessToken" = [])), params(("id" = HallId, Path)),
    responses((status = 200, body = GatesBody), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn hall_gates(
    State(app): State<App>,
    _: Allowed<ViewEvents>,
    Id(hall): Id<HallId>,
) -> ApiResult<Json<GatesBody>> {
    Ok(Json(GatesBody { gates: gate::gates_of_hall(&app.context, hall).await? }))
}

/// Replaces the gates of a hall: their names, and the sections that each admits.
#[utoipa::path(put, path = "/api/admin/halls/{id}/gates", tag = "admin",
    security(("accessToken" = [])), params(("id" = HallId, Path)), request_body = GatesBody,
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn set_gates(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageVenues>,
    Id(hall): Id<HallId>,
    body: Body<GatesBody>,
) -> ApiResult<StatusCode> {
    gate::set_gates(&app.context, actor, hall, body.value.gates).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct GateListParams {
    /// Tickets per page, 1 to 2000; 100 by default.
    #[param(minimum = 1, maximum = 2000)]
    limit: Option<u32>,
    /// `nextCursor` of the previous page, or `refreshCursor` of the last one.
    cursor: Option<String>,
}

impl Continues for GateListParams {
    fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }
}

/// The tickets of a date, for a device that must check them without a network. Contains the name of
/// each holder and no other personal data. The last page has a `refreshCursor`, which later gives
/// the tickets that changed since; those that were canceled have the status `VOID`. The audit log
/// records each download once; a cursor works for its organiser and its date, for 18 hours. Refused
/// with `GATES_CLOSED` for a date that `GET /api/admin/gate/shows` wouldn't list.
#[utoipa::path(get, path = "/api/admin/schedules/{id}/gate-list", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path), GateListParams),
    responses((status = 200, body = GateList), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn gate_list(
    State(app): State<App>,
    AuditedStart { actor, query, .. }: AuditedStart<GateListParams, CheckInTickets, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Json<GateList>> {
    let limit = limit_within(query.limit.unwrap_or(100), LINES_MAX)?;
    let asked = GateListRequest { actor, schedule, cursor: query.cursor, limit };
    Ok(Json(gate::gate_list(&app.context, asked).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ScanBody {
    /// Chosen by the device; a repeat with the same id has no further effect.
    id: Uuid,
    ticket_id: TicketId,
    #[schema(value_type = String, min_length = 1, max_length = 40)]
    gate: GateName,
    scanned_at: Timestamp,
    /// Takes back an earlier check-in of this ticket.
    #[serde(default)]
    undo: Option<UndoScanBody>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct UndoScanBody {
    /// `checkInId` of the check-in, or `id` of the scan.
    check_in_id: Uuid,
    /// Recorded in the audit log.
    #[schema(value_type = String, min_length = 1, max_length = 200)]
    reason: Line<200>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SyncBody {
    #[schema(max_items = 200)]
    scans: Vec<ScanBody>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct SyncResults {
    results: Vec<ScanResult>,
}

/// Sends scans that a device made without a network. A ticket that two devices admitted is reported
/// as `DOUBLE`, with the time and gate of the other scan. An item with `undo` takes back the
/// check-in that it names, and no later one; its result is `UNDONE`.
#[utoipa::path(post, path = "/api/admin/schedules/{id}/scans", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)), request_body = SyncBody,
    responses((status = 200, body = SyncResults), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn sync_scans(
    State(app): State<App>,
    Audited { actor, .. }: Audited<CheckInTickets, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
    body: Body<SyncBody>,
) -> ApiResult<Json<SyncResults>> {
    if body.value.scans.len() > SCANS_MAX {
        let problem = format!("too_long:{SCANS_MAX}");
        return Err(Failure::Field { pointer: "scans".into(), problem }.into());
    }
    let scan = |scan: ScanBody| OfflineScan {
        id: scan.id,
        ticket: scan.ticket_id,
        gate: scan.gate.into(),
        scanned_at: scan.scanned_at,
        undo: scan
            .undo
            .map(|it| OfflineUndo { check_in: it.check_in_id, reason: it.reason.into() }),
    };
    let scans = body.value.scans.into_iter().map(scan).collect();
    let results = gate::sync(&app.context, actor, schedule, scans).await?;
    Ok(Json(SyncResults { results }))
}
