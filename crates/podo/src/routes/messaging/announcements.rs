//! Reminders of openings, changed shows, and the link that ends reminders.

use crate::http::extract::{Body, Fan, Id, Params};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use podo_app::messaging::announcements;
use podo_app::messaging::port::announcements::OpenChange;
use podo_domain::catalog::text::Line;
use podo_domain::{EventId, ReservationId, ScheduleId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(my_reminders))
        .routes(routes!(remind_me, forget_reminder))
        .routes(routes!(follow))
        .routes(routes!(my_artists, unfollow))
        .routes(routes!(my_changes))
        .routes(routes!(accept_change))
        .routes(routes!(unsubscribe))
}

#[derive(Serialize, ToSchema)]
pub(crate) struct SaleReminders {
    /// The dates whose opening the fan is reminded of.
    items: Vec<ScheduleId>,
}

/// The openings that the fan will be reminded of.
#[utoipa::path(get, path = "/api/users/me/reminders", tag = "accounts",
    security(("accessToken" = [])),
    responses((status = 200, body = SaleReminders), (status = 401, body = Problem)))]
pub(crate) async fn my_reminders(
    State(app): State<App>,
    Fan(caller): Fan,
) -> ApiResult<Json<SaleReminders>> {
    Ok(Json(SaleReminders { items: app.context.store.sale_reminders_of(caller.user).await? }))
}

/// Reminds the fan half an hour before the sale of this date opens.
#[utoipa::path(put, path = "/api/schedules/{id}/reminder", tag = "catalog",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem)))]
pub(crate) async fn remind_me(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<StatusCode> {
    announcements::ask_for_sale_reminder(&app.context, caller.user, schedule).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Cancels the reminder.
#[utoipa::path(delete, path = "/api/schedules/{id}/reminder", tag = "catalog",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    responses((status = 204), (status = 401, body = Problem)))]
pub(crate) async fn forget_reminder(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<StatusCode> {
    app.context.store.drop_sale_reminder(schedule, caller.user).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Serialize, ToSchema)]
pub(crate) struct FollowedArtist {
    artist: String,
}

/// Follows the artist of this event: the fan gets a reminder half an hour before each opening of
/// the artist's events, until they stop it.
#[utoipa::path(put, path = "/api/events/{id}/follow", operation_id = "follow_artist", tag = "catalog",
    security(("accessToken" = [])), params(("id" = EventId, Path)),
    responses((status = 200, body = FollowedArtist), (status = 401, body = Problem),
              (status = 404, body = Problem)))]
pub(crate) async fn follow(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(event): Id<EventId>,
) -> ApiResult<Json<FollowedArtist>> {
    let artist = announcements::follow_artist(&app.context, caller.user, event).await?;
    Ok(Json(FollowedArtist { artist }))
}

#[derive(Serialize, ToSchema)]
pub(crate) struct FollowedArtists {
    /// The latest first, at most 100.
    items: Vec<String>,
}

/// The artists whom the fan follows.
#[utoipa::path(get, path = "/api/users/me/artists", tag = "accounts",
    security(("accessToken" = [])),
    responses((status = 200, body = FollowedArtists), (status = 401, body = Problem)))]
pub(crate) async fn my_artists(
    State(app): State<App>,
    Fan(caller): Fan,
) -> ApiResult<Json<FollowedArtists>> {
    Ok(Json(FollowedArtists { items: app.context.store.followed_artists(caller.user).await? }))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnfollowParams {
    /// The artist as the list writes it.
    #[param(value_type = String, max_length = 200)]
    artist: Line<200>,
}

/// Stops following an artist.
#[utoipa::path(delete, path = "/api/users/me/artists", operation_id = "unfollow_artist",
    tag = "accounts", security(("accessToken" = [])), params(UnfollowParams),
    responses((status = 204), (status = 401, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn unfollow(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<UnfollowParams>,
) -> ApiResult<StatusCode> {
    app.context.store.unfollow_artist(params.artist.into(), caller.user).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Serialize, ToSchema)]
pub(crate) struct OpenChanges {
    items: Vec<OpenChange>,
}

/// Bookings whose show has a new date or venue. Until the show begins, the fan can accept the
/// change, or cancel the booking without a fee.
#[utoipa::path(get, path = "/api/booking/changes", tag = "booking",
    security(("accessToken" = [])),
    responses((status = 200, body = OpenChanges), (status = 401, body = Problem)))]
pub(crate) async fn my_changes(
    State(app): State<App>,
    Fan(caller): Fan,
) -> ApiResult<Json<OpenChanges>> {
    let items = announcements::open_changes(&app.context, caller.user).await?;
    Ok(Json(OpenChanges { items }))
}

/// Empty.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AcceptChangeBody {}

/// Accepts a new date or venue. From now on the refund policy of the event applies again.
#[utoipa::path(post, path = "/api/booking/reservations/{id}/accept-change", tag = "booking",
    security(("accessToken" = [])), request_body = AcceptChangeBody,
    params(("id" = ReservationId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn accept_change(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(reservation): Id<ReservationId>,
    body: Body<AcceptChangeBody>,
) -> ApiResult<StatusCode> {
    let AcceptChangeBody {} = body.value;
    announcements::accept_change(&app.context, caller.user, reservation).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnsubscribeParams {
    /// The credential in the link of a reminder.
    token: String,
}

/// Ends reminders for the recipient of a mail, with one call and without a login (RFC 8058). The
/// body is ignored.
#[utoipa::path(post, path = "/api/users/unsubscribe", tag = "accounts",
    params(UnsubscribeParams),
    responses((status = 204), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn unsubscribe(
    State(app): State<App>,
    Params(params): Params<UnsubscribeParams>,
) -> ApiResult<StatusCode> {
    announcements::unsubscribe(&app.context, &params.token).await?;
    Ok(StatusCode::NO_CONTENT)
}
