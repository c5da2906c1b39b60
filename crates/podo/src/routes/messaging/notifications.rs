//! A fan's notification settings and devices.

use crate::http::extract::{Body, Fan, Id};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use podo_app::messaging::notifications;
use podo_app::messaging::notifications::PushToken;
use podo_app::messaging::port::notifications::{NoticeView, NotificationSettings};
use podo_domain::DeviceId;
use podo_domain::messaging::messages::Language;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Most notifications in a list.
const LISTED_MAX: u32 = 50;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(show, change))
        .routes(routes!(choose_language))
        .routes(routes!(sent))
        .routes(routes!(add_device))
        .routes(routes!(remove_device))
}

/// The language and the channels of notifications, besides the mailbox.
#[utoipa::path(get, path = "/api/users/me/notifications", operation_id = "show_notification_settings", tag = "accounts",
    security(("accessToken" = [])),
    responses((status = 200, body = NotificationSettings), (status = 401, body = Problem)))]
pub(crate) async fn show(
    State(app): State<App>,
    Fan(caller): Fan,
) -> ApiResult<Json<NotificationSettings>> {
    Ok(Json(notifications::settings(&app.context, caller.user).await?))
}

/// Sets the language and the channels of notifications, besides the mailbox.
#[utoipa::path(put, path = "/api/users/me/notifications", operation_id = "change_notification_settings", tag = "accounts",
    security(("accessToken" = [])), request_body = NotificationSettings,
    responses((status = 200, body = NotificationSettings), (status = 401, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn change(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<NotificationSettings>,
) -> ApiResult<Json<NotificationSettings>> {
    notifications::set_settings(&app.context, caller.user, body.value).await?;
    Ok(Json(body.value))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LanguageBody {
    language: Language,
}

/// Sets the language of notifications; the channels stay as they are.
#[utoipa::path(put, path = "/api/users/me/notifications/language", operation_id = "choose_language", tag = "accounts",
    security(("accessToken" = [])), request_body = LanguageBody,
    responses((status = 204), (status = 401, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn choose_language(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<LanguageBody>,
) -> ApiResult<StatusCode> {
    notifications::choose_language(&app.context, caller.user, body.value.language).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Serialize, ToSchema)]
#[schema(as = SentLetters)]
pub(crate) struct SentNotifications {
    items: Vec<NoticeView>,
}

/// The delivery status of notifications sent by e-mail, SMS and push.
#[utoipa::path(get, path = "/api/users/me/notifications/sent", tag = "accounts",
    security(("accessToken" = [])),
    responses((status = 200, body = SentNotifications), (status = 401, body = Problem)))]
pub(crate) async fn sent(
    State(app): State<App>,
    Fan(caller): Fan,
) -> ApiResult<Json<SentNotifications>> {
    let items = app.context.store.notices_of(caller.user, LISTED_MAX).await?;
    Ok(Json(SentNotifications { items }))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeviceBody {
    /// The Firebase Cloud Messaging registration token.
    token: PushToken,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct DeviceView {
    id: DeviceId,
}

/// Registers a device for push notifications.
#[utoipa::path(post, path = "/api/users/me/devices", tag = "accounts",
    security(("accessToken" = [])), request_body = DeviceBody,
    responses((status = 201, body = DeviceView), (status = 401, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn add_device(
    State(app): State<App>,
    Fan(caller): Fan,
    body: Body<DeviceBody>,
) -> ApiResult<(StatusCode, Json<DeviceView>)> {
    let id = notifications::add_device(&app.context, caller.user, &body.value.token).await?;
    Ok((StatusCode::CREATED, Json(DeviceView { id })))
}

/// Removes a device.
#[utoipa::path(delete, path = "/api/users/me/devices/{id}", tag = "accounts",
    security(("accessToken" = [])), params(("id" = DeviceId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn remove_device(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(device): Id<DeviceId>,
) -> ApiResult<StatusCode> {
    notifications::remove_device(&app.context, caller.user, device).await?;
    Ok(StatusCode::NO_CONTENT)
}
