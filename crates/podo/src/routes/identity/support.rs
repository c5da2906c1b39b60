//! The pages of support: search, a person, a booking, and what happened to them.

use crate::http::extract::permissions::SupportFans;
use crate::http::extract::scope::{OfReservation, OwnEvents};
use crate::http::extract::{Audited, Body, Id, Params, guarded, page_limit};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use podo_app::identity::support;
use podo_app::identity::support::port::TimelineEntry;
use podo_app::identity::support::timeline;
use podo_app::identity::support::{
    NoteText, SupportBooking, SupportHits, SupportNote, SupportPerson,
};
use podo_app::store::Page;
use podo_domain::{ReservationId, Timestamp, UserId};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(guarded!(search_support))
        .routes(guarded!(support_person))
        .routes(guarded!(person_timeline))
        .routes(guarded!(note_person))
        .routes(guarded!(support_booking))
        .routes(guarded!(booking_timeline))
        .routes(guarded!(note_booking))
        .routes(guarded!(resend_confirmation))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct SupportParams {
    /// A booking number, an id, a complete e-mail address or phone number, or the first two or more
    /// characters of a name.
    query: String,
}

/// Finds people and bookings. A role that is limited to events finds their bookings only.
#[utoipa::path(get, path = "/api/admin/support/search", tag = "admin",
    security(("accessToken" = [])), params(SupportParams),
    responses((status = 200, body = SupportHits), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn search_support(
    State(app): State<App>,
    Audited { grant, .. }: Audited<SupportFans, OwnEvents>,
    Params(params): Params<SupportParams>,
) -> ApiResult<Json<SupportHits>> {
    Ok(Json(support::search(&app.context, &params.query, &grant.events).await?))
}

/// A person with their bookings and staff's notes.
#[utoipa::path(get, path = "/api/admin/support/people/{id}", tag = "admin",
    security(("accessToken" = [])), params(("id" = UserId, Path)),
    responses((status = 200, body = SupportPerson), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn support_person(
    State(app): State<App>,
    _: Audited<SupportFans>,
    Id(user): Id<UserId>,
) -> ApiResult<Json<SupportPerson>> {
    Ok(Json(support::person(&app.context, user).await?))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimelineParams {
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// `nextCursor` of the previous page.
    cursor: Option<i64>,
}

impl TimelineParams {
    fn until(&self) -> Option<Timestamp> {
        let within = |ms: i64| ms.clamp(0, Timestamp::FAR_FUTURE.ms());
        self.cursor.map(within).map(Timestamp::from_ms)
    }
}

/// Everything that happened to a person, newest first: entries to waiting rooms, holds, payments,
/// refunds, tickets with their transfers and check-ins, and notifications. A page is longer than
/// its limit only if more happened in one moment.
#[utoipa::path(get, path = "/api/admin/support/people/{id}/timeline", tag = "admin",
    security(("accessToken" = [])), params(("id" = UserId, Path), TimelineParams),
    responses((status = 200, body = Page<TimelineEntry>), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn person_timeline(
    State(app): State<App>,
    _: Audited<SupportFans>,
    Id(user): Id<UserId>,
    Params(params): Params<TimelineParams>,
) -> ApiResult<Json<Page<TimelineEntry>>> {
    let limit = page_limit(params.limit)?;
    Ok(Json(timeline::of_person(&app.context, user, params.until(), limit).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoteBody {
    text: NoteText,
}

/// Adds a note about a person. The text is encrypted and isn't in the audit log.
#[utoipa::path(post, path = "/api/admin/support/people/{id}/notes", tag = "admin",
    security(("accessToken" = [])), params(("id" = UserId, Path)), request_body = NoteBody,
    responses((status = 201, body = SupportNote), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn note_person(
    State(app): State<App>,
    Audited { actor, .. }: Audited<SupportFans>,
    Id(user): Id<UserId>,
    body: Body<NoteBody>,
) -> ApiResult<(StatusCode, Json<SupportNote>)> {
    let note = support::note_person(&app.context, actor, user, &body.value.text).await?;
    Ok((StatusCode::CREATED, Json(note)))
}

/// A booking with every payment, its tickets with their owners, and staff's notes.
#[utoipa::path(get, path = "/api/admin/support/bookings/{id}", tag = "admin",
    security(("accessToken" = [])), params(("id" = ReservationId, Path)),
    responses((status = 200, body = SupportBooking), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn support_booking(
    State(app): State<App>,
    _: Audited<SupportFans, OfReservation>,
    Id(reservation): Id<ReservationId>,
) -> ApiResult<Json<SupportBooking>> {
    Ok(Json(support::booking(&app.context, reservation).await?))
}

/// Everything that happened to a booking, newest first.
#[utoipa::path(get, path = "/api/admin/support/bookings/{id}/timeline", tag = "admin",
    security(("accessToken" = [])), params(("id" = ReservationId, Path), TimelineParams),
    responses((status = 200, body = Page<TimelineEntry>), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn booking_timeline(
    State(app): State<App>,
    _: Audited<SupportFans, OfReservation>,
    Id(reservation): Id<ReservationId>,
    Params(params): Params<TimelineParams>,
) -> ApiResult<Json<Page<TimelineEntry>>> {
    let limit = page_limit(params.limit)?;
    Ok(Json(timeline::of_booking(&app.context, reservation, params.until(), limit).await?))
}

/// Adds a note about a booking. The text is encrypted and isn't in the audit log.
#[utoipa::path(post, path = "/api/admin/support/bookings/{id}/notes", tag = "admin",
    security(("accessToken" = [])), params(("id" = ReservationId, Path)), request_body = NoteBody,
    responses((status = 201, body = SupportNote), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn note_booking(
    State(app): State<App>,
    Audited { actor, .. }: Audited<SupportFans, OfReservation>,
    Id(reservation): Id<ReservationId>,
    body: Body<NoteBody>,
) -> ApiResult<(StatusCode, Json<SupportNote>)> {
    let note = support::note_booking(&app.context, actor, reservation, &body.value.text).await?;
    Ok((StatusCode::CREATED, Json(note)))
}

/// Empty.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResendBody {}

/// Sends the confirmation of a paid booking again, over the buyer's channels and with the tickets
/// that they still have: at most five times a day.
#[utoipa::path(post, path = "/api/admin/support/bookings/{id}/resend", tag = "admin",
    security(("accessToken" = [])), params(("id" = ReservationId, Path)), request_body = ResendBody,
    responses((status = 202), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem), (status = 429, body = Problem)))]
pub(crate) async fn resend_confirmation(
    State(app): State<App>,
    Audited { actor, .. }: Audited<SupportFans, OfReservation>,
    Id(reservation): Id<ReservationId>,
    body: Body<ResendBody>,
) -> ApiResult<StatusCode> {
    let ResendBody {} = body.value;
    support::resend(&app.context, actor, reservation).await?;
    Ok(StatusCode::ACCEPTED)
}
