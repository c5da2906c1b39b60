//! What comes from payment companies by itself: webhooks, and browsers on their way back.

use super::App;
use super::error::{ApiError, ApiResult, Failure, Problem};
use super::extract::Raw;
use app::ports::gateway::Delivery;
use app::webhooks;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(webhook)).routes(routes!(come_back, post_back))
}

/// A payment company tells us something. It is checked, kept once, and makes us ask; nothing it says
/// is believed. Unknown kinds are fine.
#[utoipa::path(post, path = "/api/payment/webhooks/{gateway}", tag = "payment",
    params(("gateway" = String, Path)), request_body(content = String),
    responses((status = 200), (status = 401, body = Problem), (status = 404, body = Problem)))]
pub(super) async fn webhook(
    State(app): State<App>,
    Path(gateway): Path<String>,
    headers: HeaderMap,
    Raw(body): Raw,
) -> ApiResult<StatusCode> {
    let headers: Vec<(String, String)> = headers
        .iter()
        .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
        .collect();
    let delivery = Delivery { headers: &headers, body: &body, now: app.platform.now() };
    if let Some(hint) = webhooks::receive(&app.platform, &gateway, &delivery).await?
        && let Some(payment) = hint.payment
    {
        let platform = app.platform.clone();
        // They wait for two seconds at most; asking them back may take longer.
        app.tasks.spawn(async move {
            let followed = webhooks::follow(&platform, &gateway, &hint.id, payment).await;
            if let Err(error) = followed {
                tracing::warn!(gateway, %error, "A webhook will be followed later");
            }
        });
    }
    Ok(StatusCode::OK)
}

/// The browser comes back from a payment company's page (Toss, PortOne).
#[utoipa::path(get, path = "/api/payment/return/{gateway}", tag = "payment",
    params(("gateway" = String, Path)),
    responses((status = 303, description = "On to our own page, which confirms"),
              (status = 404, body = Problem)))]
pub(super) async fn come_back(
    State(app): State<App>,
    Path(gateway): Path<String>,
    Query(fields): Query<Vec<(String, String)>>,
) -> ApiResult<Response> {
    go_on(&app, &gateway, &fields).await
}

/// The same as a form (Inicis, KCP). It comes from their site, without a session, and is safe: what
/// it brings is only kept, and charges nothing until the fan's own page confirms.
#[utoipa::path(post, path = "/api/payment/return/{gateway}", tag = "payment",
    params(("gateway" = String, Path)), request_body(content = String,
    content_type = "application/x-www-form-urlencoded"),
    responses((status = 303, description = "On to our own page, which confirms"),
              (status = 404, body = Problem)))]
pub(super) async fn post_back(
    State(app): State<App>,
    Path(gateway): Path<String>,
    Raw(body): Raw,
) -> ApiResult<Response> {
    let fields: Vec<(String, String)> = serde_urlencoded::from_bytes(&body)
        .map_err(|error| Failure::Body { problem: error.to_string() })?;
    go_on(&app, &gateway, &fields).await
}

/// Sends the browser on to the page that confirms, or shows that nothing was paid.
async fn go_on(app: &App, gateway: &str, fields: &[(String, String)]) -> ApiResult<Response> {
    let returned = webhooks::take_return(&app.platform, gateway, fields).await?;
    let payment = returned.payment;
    let address = match returned.approval {
        Ok(_) => format!("/#/paid/{payment}?paymentKey=kept"),
        Err(_) => format!("/#/paid/{payment}"),
    };
    let mut response = StatusCode::SEE_OTHER.into_response();
    let address = HeaderValue::try_from(address)
        .map_err(|error| ApiError::from(Failure::Broken(error.to_string())))?;
    response.headers_mut().insert(header::LOCATION, address);
    Ok(response)
}
