//! What a fan wants to get, and on which devices.

use super::App;
use super::error::{ApiResult, Problem};
use super::extract::{Body, Fan, Id};
use app::notifications::{self, PushToken};
use app::ports::notifications::{NoticeView, NotificationSettings};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::DeviceId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Most letters that are listed.
const LISTED_MAX: u32 = 50;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(show, change))
        .routes(routes!(sent))
        .routes(routes!(add_device))
        .routes(routes!(remove_device))
}

/// How the fan is written to, besides the mailbox.
#[utoipa::path(get, path = "/api/users/me/notifications", operation_id = "show_notification_settings", tag = "accounts",
    security(("accessToken" = [])),
    responses((status = 200, body = NotificationSettings), (status = 401, body = Problem)))]
pub(super) async fn show(
    State(app): State<App>,
    Fan(caller): Fan,
) -> ApiResult<Json<NotificationSettings>> {
    Ok(Json(notifications::settings(&app.platform, caller.user).await?))
}

/// Sets the language of letters, and over which channels they come besides the mailbox.
#[utoipa::path(put, path = "/api/users/me/notifications", operation_id = "change_notification_settings", tag = "accounts",
    security(("accessToken" = [])), request_body = NotificationSettings,
    responses((status = 200, body = NotificationSettings), (status = 401, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn change(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<NotificationSettings>,
) -> ApiResult<Json<NotificationSettings>> {
    notifications::set_settings(&app.platform, caller.user, body.value).await?;
    Ok(Json(body.value))
}

#[derive(Serialize, ToSchema)]
pub(super) struct SentLetters {
    items: Vec<NoticeView>,
}

/// What became of the letters that left the house.
#[utoipa::path(get, path = "/api/users/me/notifications/sent", tag = "accounts",
    security(("accessToken" = [])),
    responses((status = 200, body = SentLetters), (status = 401, body = Problem)))]
pub(super) async fn sent(State(app): State<App>, Fan(caller): Fan) -> ApiResult<Json<SentLetters>> {
    let items = app.platform.store.notices_of(caller.user, LISTED_MAX).await?;
    Ok(Json(SentLetters { items }))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeviceBody {
    /// The registration token of Firebase Cloud Messaging.
    token: PushToken,
}

#[derive(Serialize, ToSchema)]
pub(super) struct DeviceView {
    id: DeviceId,
}

/// Remembers a device for push messages.
#[utoipa::path(post, path = "/api/users/me/devices", tag = "accounts",
    security(("accessToken" = [])), request_body = DeviceBody,
    responses((status = 201, body = DeviceView), (status = 401, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn add_device(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<DeviceBody>,
) -> ApiResult<(StatusCode, Json<DeviceView>)> {
    let id = notifications::add_device(&app.platform, caller.user, &body.value.token).await?;
    Ok((StatusCode::CREATED, Json(DeviceView { id })))
}

/// Forgets a device.
#[utoipa::path(delete, path = "/api/users/me/devices/{id}", tag = "accounts",
    security(("accessToken" = [])), params(("id" = DeviceId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 404, body = Problem)))]
pub(super) async fn remove_device(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(device): Id<DeviceId>,
) -> ApiResult<StatusCode> {
    notifications::remove_device(&app.platform, caller.user, device).await?;
    Ok(StatusCode::NO_CONTENT)
}
